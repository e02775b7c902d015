//! Where the bits of every section go, by literals derived by hand from the specification.

use super::{address, config, emit, parse};
use crate::*;

/// A literal is read as this packet, and the packet is written as the literal.
#[track_caller]
fn both(config: &Config, bytes: &[u8], packet: Packet) {
    assert_eq!(parse(config, bytes), Ok((packet, bytes.len())));
    assert_eq!(emit(config, &packet).as_deref(), Ok(bytes));
}

#[test]
fn addresses() {
    let (config, ete) = (config(false), config(true));
    let one = Form::Short { two: false };
    let two = Form::Short { two: true };
    let vectors: [(&[u8], Form, Is, u64); 8] = [
        (&[0x7f], one, Is::Is0, 0x1fc),
        (&[0x81, 0xff], two, Is::Is0, 0x1_fe04),
        (&[0x01], one, Is::Is1, 0x2),
        (&[0x81, 0xff], two, Is::Is1, 0xff02),
        (&[0x01, 0x41, 0x23, 0x45], Form::Long32, Is::Is0, 0x4523_8204),
        (&[0x01, 0xc1, 0x23, 0x45], Form::Long32, Is::Is1, 0x4523_c102),
        (&[1, 0x41, 2, 3, 4, 5, 6, 7], Form::Long64, Is::Is0, 0x0706_0504_0302_8204),
        (&[1, 0xc1, 2, 3, 4, 5, 6, 7], Form::Long64, Is::Is1, 0x0706_0504_0302_c102),
    ];
    // Headers of an address, a source address, an address with context and a Q element.
    let headers = |form, is| match (form, is) {
        (Form::Short { .. }, Is::Is0) => (0x95, 0xb4, None, Some(0xa5)),
        (Form::Short { .. }, Is::Is1) => (0x96, 0xb5, None, Some(0xa6)),
        (Form::Long32, Is::Is0) => (0x9a, 0xb6, Some(0x82), Some(0xaa)),
        (Form::Long32, Is::Is1) => (0x9b, 0xb7, Some(0x83), Some(0xab)),
        (_, Is::Is0) => (0x9d, 0xb8, Some(0x85), None),
        (_, Is::Is1) => (0x9e, 0xb9, Some(0x86), None),
    };
    for (payload, form, is, value) in vectors {
        let sent = address(form, is, value);
        let (plain, source, with_context, q) = headers(form, is);
        both(&config, &[&[plain], payload].concat(), Packet::Address(sent));
        both(&ete, &[&[source], payload].concat(), Packet::Source(sent));
        if let Some(header) = with_context {
            let context = Context { el: 2, sf: true, vmid: Some(0x201), ..Context::default() };
            let bytes = [&[header], payload, &[0x52, 0x01, 0x02]].concat();
            both(&config, &bytes, Packet::AddressContext(sent, context));
        }
        if let Some(header) = q {
            let bytes = [&[header], payload, &[0x85, 0x01]].concat();
            both(&config, &bytes, Packet::Q(Q { count: Some(0x85), address: Some(sent) }));
        }
    }
    let matched = address(Form::Match(2), Is::Is0, 0);
    both(&config, &[0x92], Packet::Address(matched));
    both(&ete, &[0xb2], Packet::Source(matched));
    both(&config, &[0xa2, 0x07], Packet::Q(Q { count: Some(7), address: Some(matched) }));
    both(&config, &[0xac, 0x07], Packet::Q(Q { count: Some(7), address: None }));
    both(&config, &[0xaf], Packet::Q(Q { count: None, address: None }));
    // An address needs a count, and there is no form for a 64-bit address.
    let unknown = Err(EmitError::Value(Kind::Q));
    let none = Address { form: Form::Match(0), ..matched };
    assert_eq!(emit(&config, &Packet::Q(Q { count: None, address: Some(none) })), unknown);
    let long = address(Form::Long64, Is::Is0, 0);
    assert_eq!(emit(&config, &Packet::Q(Q { count: Some(1), address: Some(long) })), unknown);
}

#[test]
fn contexts() {
    let config = config(false);
    let context = Context { el: 3, sf: false, ns: true, nse: true, vmid: None, context_id: None };
    both(&config, &[0x80], Packet::Context(None));
    both(&config, &[0x81, 0x2b], Packet::Context(Some(context)));
    let identified = Context { vmid: Some(0x0201), context_id: Some(0x0605_0403), ..context };
    both(&config, &[0x81, 0xeb, 1, 2, 3, 4, 5, 6], Packet::Context(Some(identified)));
    let without = Config { vmid_bytes: 0, ..config };
    assert_eq!(
        emit(&without, &Packet::Context(Some(identified))),
        Err(EmitError::Value(Kind::Context))
    );
}

#[test]
fn time_and_speculation() {
    let config = config(false);
    let commopt = Config { commopt: true, ..config };
    let timestamp = |value, bits, cycles| Packet::Timestamp(Timestamp { value, bits, cycles });
    both(&config, &[0x02, 0x81, 0x01], timestamp(0x81, 14, None));
    let long = [0x02, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0xff];
    both(&config, &long, timestamp(0xff00_0000_0000_0001, 64, None));
    both(&config, &[0x03, 0x01, 0x81, 0x82, 0x0f], timestamp(1, 7, Some(0x3_c101)));
    // Bits that a cycle count does not have.
    let narrow = Config { cycle_count_bits: 12, ..config };
    let read = parse(&narrow, &[0x03, 0x01, 0x81, 0x82, 0xff]);
    assert_eq!(read, Ok((timestamp(1, 7, Some(0x101)), 5)));
    let f1 = |commit, count| Packet::CycleCount(CycleCount::F1 { commit, count });
    both(&config, &[0x0e, 0x85, 0x01, 0x81, 0x82, 0xff], f1(Some(0x85), Some(0x3f_c101)));
    both(&config, &[0x0f, 0x05], f1(Some(5), None));
    both(&commopt, &[0x0e, 0x81, 0x02], f1(None, Some(0x101)));
    both(&commopt, &[0x0f], f1(None, None));
    let f2 = CycleCount::F2 { far: true, commit: 0xa, count: 0x5 };
    both(&config, &[0x0d, 0xa5], Packet::CycleCount(f2));
    both(&config, &[0x19], Packet::CycleCount(CycleCount::F3 { commit: 2, count: 1 }));
    both(&config, &[0x2d, 0xff, 0xff, 0xff, 0xff, 0x0f], Packet::Commit(u32::MAX));
    both(
        &config,
        &[0x2f, 0x81, 0x01],
        Packet::Cancel(Cancel::F1 { count: 0x81, mispredict: true }),
    );
    both(&config, &[0x32], Packet::Mispredict(Atoms::new(2, 3)));
    both(&config, &[0x37], Packet::Cancel(Cancel::F2(Atoms::new(1, 0))));
    both(&config, &[0x3d], Packet::Cancel(Cancel::F3 { atom: true, count: 4 }));
}

#[test]
fn exceptions_and_trace_info() {
    let (config, ete) = (config(false), config(true));
    let exception = Exception { number: 0x24c, returns: Return::Target, fault_pending: true };
    both(&config, &[0x06, 0xd8, 0x32], Packet::Exception(exception));
    both(&ete, &[0x06, 0xd8, 0x32], Packet::Exception(exception));
    let reset = Exception { number: 0, returns: Return::Address, fault_pending: false };
    both(&ete, &[0x06, 0x01, 0xfe], Packet::Reset(reset, 0xfe));
    let fail = Exception { number: 0x18, returns: Return::Reserved, fault_pending: false };
    both(&ete, &[0x06, 0x71, 0x81], Packet::TransactionFail(fail, 0x81));
    let ite = Packet::Ite { el: 2, value: 0x0807_0605_0403_0201 };
    both(&ete, &[0x09, 2, 1, 2, 3, 4, 5, 6, 7, 8], ite);
    let info = TraceInfo {
        info: Some(1),
        key: Some(0x82),
        speculation: Some(3),
        threshold: Some(4),
        window: Some(5),
    };
    both(&ete, &[0x01, 0x1f, 1, 0x82, 1, 3, 4, 5], Packet::TraceInfo(info));
    let some = TraceInfo { key: Some(2), threshold: Some(4), ..TraceInfo::default() };
    both(&config, &[0x01, 0x0a, 2, 4], Packet::TraceInfo(some));
    both(&config, &[0x00, 0x03], Packet::Discard);
    both(&config, &[0x00, 0x05], Packet::Overflow);
    both(&config, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80], Packet::Async);
}

#[test]
fn conditional_instructions_markers_and_events() {
    let config = config(false);
    let first = ConditionalResult { key: 0x85, result: 0xa, ci: true };
    let second = ConditionalResult { key: 7, result: 0x3, ci: false };
    both(&config, &[0x6f, 0xda, 0x10], Packet::ResultF1(first, None));
    both(&config, &[0x69, 0xda, 0x10, 0x73], Packet::ResultF1(first, Some(second)));
    both(&config, &[0x6a, 0x73, 0xda, 0x10], Packet::ResultF1(second, Some(first)));
    both(&config, &[0x6c, 0x85, 0x01], Packet::ConditionalF1(0x85));
    both(&config, &[0x42], Packet::ConditionalF2(2));
    both(&config, &[0x6d, 0x43], Packet::ConditionalF3 { z: true, num: 0x21 });
    both(&config, &[0x4e], Packet::ResultF2 { two: true, token: 2 });
    both(&config, &[0x49], Packet::ResultF2 { two: false, token: 1 });
    both(&config, &[0x5a, 0xbc], Packet::ResultF3(0xabc));
    both(&config, &[0x46], Packet::ResultF4(2));
    both(&config, &[0x25], Packet::NumberedMarker(5));
    both(&config, &[0x2c], Packet::UnnumberedMarker(4));
    both(&config, &[0x7a], Packet::Event(0xa));
}
