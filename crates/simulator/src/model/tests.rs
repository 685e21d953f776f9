use super::*;

#[test]
fn an_empty_table_is_the_ideal_device() {
    assert_eq!(Model::from_json("{}").unwrap(), Model::default());
    assert_eq!(Model::from_json(&Model::default().to_json()).unwrap(), Model::default());
}

#[test]
fn errors_name_the_key() {
    let said = |json: &str| Model::from_json(json).unwrap_err().to_string();
    assert!(
        said(r#"{"link": {"rate": 3}}"#).starts_with("link: unknown field `rate`"),
        "{}",
        said(r#"{"link": {"rate": 3}}"#)
    );
    assert!(said(r#"{"wheels": {}}"#).contains("unknown field `wheels`"));
    assert!(said(r#"{"queues": {"parallel": "two"}}"#).starts_with("queues: "));
    assert_eq!(said(r#"{"link": {"loss": 1.5}}"#), "link.loss: 1.5 is not allowed, only 0 to 1");
    assert_eq!(
        said(r#"{"forwarding": {"service": {"mean_ns": -1}}}"#),
        "forwarding.service.mean_ns: -1 is not allowed, only a number that is not negative"
    );
    assert_eq!(
        said(r#"{"software": {"matches": ["colour"]}}"#),
        r#"software.matches: there is no field "colour""#
    );
    for (key, zero) in [("bytes", 0), ("buffers", 0)] {
        let json = format!(r#"{{"control": {{"packet_out": {{"{key}": {zero}}}}}}}"#);
        assert_eq!(said(&json), format!("control.packet_out.{key}: 0 is not allowed, at least 1"));
    }
    assert_eq!(said("[]"), "expected a table of groups");
}
