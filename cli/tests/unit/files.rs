use super::*;

#[test]
fn standard_input_is_read_once() {
    let [std, file] = [Path::new("-"), Path::new("./-")];
    assert!(one_standard([std, file]).is_ok());
    assert!(one_standard([std, file, std]).is_err());
}
