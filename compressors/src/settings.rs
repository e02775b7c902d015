//! `key=value` settings for the fields of configurations.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Returns the same configuration with some fields set; a field of an inner one is `outer.inner`.
pub(crate) fn apply<T: Serialize + DeserializeOwned + Copy>(
    config: T,
    settings: &str,
) -> Result<T, String> {
    if settings.is_empty() {
        return Ok(config);
    }
    let mut document = serde_json::to_value(config).map_err(|error| error.to_string())?;
    for setting in settings.split(',') {
        let (path, value) =
            setting.split_once('=').ok_or_else(|| format!("`{setting}` is not KEY=VALUE"))?;
        // Anything other than a number or a truth value is a name.
        let value = value.parse().unwrap_or_else(|_| Value::String(value.into()));
        let mut place = &mut document;
        for key in path.split('.') {
            let fields = place.as_object_mut().ok_or_else(|| format!("`{path}` has no fields"))?;
            if !fields.contains_key(key) {
                let known: Vec<_> = fields.keys().map(String::as_str).collect();
                return Err(format!("there is no `{key}`, only {}", known.join(", ")));
            }
            place = &mut fields[key];
        }
        *place = value;
    }
    serde_json::from_value(document).map_err(|error| error.to_string())
}
