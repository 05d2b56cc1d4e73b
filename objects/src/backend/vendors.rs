//! Opens the buckets of each vendor, with the variables that the vendor's own tools know.

use forebay_printable::printable;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::{ClientOptions, RetryConfig};
use serde::Deserialize;

use super::bucket::{Bucket, BucketCredentials};
use crate::client::Connector;
use crate::{Address, Scheme, Secret, Settings};

/// Parts of the names of variables whose values are secret.
const SECRETS: [&str; 6] = ["KEY", "TOKEN", "SECRET", "SAS", "CONNECTION_STRING", "PASSWORD"];
/// Shorter values are not looked for in errors: they would also be found inside other words.
const SECRET_LENGTH: usize = 8;

/// The error completes "The store cannot be used:".
pub(super) fn open(address: &Address, settings: &Settings) -> Result<Bucket, String> {
    let built = match address.scheme {
        Scheme::Google => google(address, settings),
        Scheme::Azure => azure(address, settings),
        Scheme::S3 | Scheme::Hub | Scheme::Web => s3(address, settings),
    };
    built.map_err(|error| without_secrets(settings, error))
}

fn s3(address: &Address, settings: &Settings) -> Result<Bucket, String> {
    let mut builder = AmazonS3Builder::new();
    for (name, value) in &settings.credentials.variables {
        if let Ok(key) = name.to_ascii_lowercase().parse::<AmazonS3ConfigKey>() {
            builder = builder.with_config(key, value.expose());
        }
    }
    let bucket = address.host();
    let given = settings.endpoint.as_deref();
    let given = given.or_else(|| settings.variable(&["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"]));
    let mut reached = None;
    if let Some(endpoint) = given {
        let (endpoint, before_host) = s3_endpoint(endpoint, bucket, settings.virtual_hosted);
        builder = builder
            .with_config(AmazonS3ConfigKey::S3Endpoint, &endpoint)
            .with_endpoint(&endpoint)
            .with_virtual_hosted_style_request(before_host)
            .with_allow_http(endpoint.starts_with("http://"));
        reached = Some(endpoint);
    } else if let Some(before_host) = settings.virtual_hosted {
        builder = builder.with_virtual_hosted_style_request(before_host);
    }
    let region = settings.region.as_deref().or_else(|| settings.variable(&["AWS_REGION", "AWS_DEFAULT_REGION"]));
    if let Some(region) = region {
        checked_region(region)?;
        builder = builder.with_region(region);
    }
    if settings.anonymous {
        builder = builder.with_skip_signature(true);
    }
    let reached_region = builder.get_config_value(&AmazonS3ConfigKey::Region).unwrap_or_default();
    // The regions of China and of governments have buckets of their own.
    let server = format!("{} in {reached_region}", reached.as_deref().unwrap_or_default());
    let connector = Connector::new(settings, reached.as_deref())?;
    let credentials = connector.credentials();
    let store = builder.with_bucket_name(bucket).with_retry(no_retries()).with_http_connector(connector).build();
    let hint = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or read a public bucket without credentials";
    let store = store.map_err(|error| error.to_string())?;
    Ok(Bucket::new(store, server, secrets(settings), BucketCredentials { slot: credentials, hint }))
}

/// A region becomes part of the host's name, so one with other characters could lead to another host.
fn checked_region(region: &str) -> Result<(), String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if (1..=64).contains(&region.len()) && region.bytes().all(plain) {
        return Ok(());
    }
    Err(format!("the region \"{}\" has other characters than letters, digits, - and _", printable(region)))
}

/// The endpoint as the library takes it, and whether the bucket's name is before its host.
fn s3_endpoint(endpoint: &str, bucket: &str, before_host: Option<bool>) -> (String, bool) {
    let endpoint = endpoint.trim_end_matches('/');
    let (scheme, host) = endpoint.split_once("://").unwrap_or(("https", endpoint));
    let is_alibaba = host.split([':', '/']).next().is_some_and(|host| host.ends_with(".aliyuncs.com"));
    // Alibaba OSS refuses the bucket before the key (SecondLevelDomainForbidden).
    if !before_host.unwrap_or(is_alibaba) {
        return (format!("{scheme}://{host}"), false);
    }
    let named = host.strip_prefix(bucket).is_some_and(|rest| rest.starts_with('.'));
    (if named { format!("{scheme}://{host}") } else { format!("{scheme}://{bucket}.{host}") }, true)
}

fn google(address: &Address, settings: &Settings) -> Result<Bucket, String> {
    let mut builder = GoogleCloudStorageBuilder::new();
    for (name, value) in &settings.credentials.variables {
        if let Ok(key) = name.to_ascii_lowercase().parse::<GoogleConfigKey>() {
            builder = builder.with_config(key, value.expose());
        }
    }
    let endpoint = settings.endpoint.as_deref().or_else(|| settings.variable(&["STORAGE_EMULATOR_HOST"]));
    let endpoint = endpoint.map(str::to_owned).or_else(|| builder.get_config_value(&GoogleConfigKey::BaseUrl));
    let endpoint = endpoint.or_else(|| server_of_account(&builder));
    let mut options = ClientOptions::new();
    let mut reached = None;
    if let Some(endpoint) = &endpoint {
        let endpoint = endpoint.trim_end_matches('/');
        // Google's own tools write the emulator's host without a scheme.
        let endpoint = if endpoint.contains("://") { endpoint.to_owned() } else { format!("http://{endpoint}") };
        builder = builder.with_base_url(&endpoint);
        options = options.with_allow_http(endpoint.starts_with("http://"));
        reached = Some(endpoint);
    }
    if settings.anonymous {
        builder = builder.with_skip_signature(true);
    }
    let connector = Connector::new(settings, reached.as_deref())?;
    let credentials = connector.credentials();
    let builder = builder.with_bucket_name(address.host()).with_client_options(options);
    let store = builder.with_retry(no_retries()).with_http_connector(connector).build();
    let hint = "set GOOGLE_APPLICATION_CREDENTIALS, or read a public bucket without credentials";
    let (store, server) = (store.map_err(|error| error.to_string())?, reached.unwrap_or_default());
    Ok(Bucket::new(store, server, secrets(settings), BucketCredentials { slot: credentials, hint }))
}

/// The server that the key of a service account names. The library would go there.
fn server_of_account(builder: &GoogleCloudStorageBuilder) -> Option<String> {
    #[derive(Deserialize)]
    struct Account {
        gcs_base_url: Option<String>,
    }
    let file = || std::fs::read(builder.get_config_value(&GoogleConfigKey::ServiceAccount)?).ok();
    let key = builder.get_config_value(&GoogleConfigKey::ServiceAccountKey).map(String::into_bytes).or_else(file)?;
    // If the key is no JSON, the library says so.
    serde_json::from_slice::<Account>(&key).ok()?.gcs_base_url
}

fn azure(address: &Address, settings: &Settings) -> Result<Bucket, String> {
    let mut builder = MicrosoftAzureBuilder::new();
    let string = settings.variable(&["AZURE_STORAGE_CONNECTION_STRING"]).unwrap_or_default();
    for (key, value) in connection(string) {
        builder = builder.with_config(key, value);
    }
    for (name, value) in &settings.credentials.variables {
        // The names of the command `az`, which the library has not.
        let name = match name.as_str() {
            "AZURE_STORAGE_ACCOUNT" => "AZURE_STORAGE_ACCOUNT_NAME",
            "AZURE_STORAGE_KEY" => "AZURE_STORAGE_ACCOUNT_KEY",
            name => name,
        };
        if let Ok(key) = name.to_ascii_lowercase().parse::<AzureConfigKey>() {
            builder = builder.with_config(key, value.expose());
        }
    }
    let named = address.host();
    let (container, host) = named.split_once('@').unwrap_or((named, ""));
    let account = host.split('.').next().filter(|account| !account.is_empty());
    if let Some(account) = account {
        builder = builder.with_account(account);
    }
    if builder.get_config_value(&AzureConfigKey::AccountName).is_none() {
        return Err("the account is not named; set AZURE_STORAGE_ACCOUNT_NAME, or write \
                    abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/KEY"
            .to_owned());
    }
    let endpoint = settings.endpoint.as_deref();
    let endpoint = endpoint.map(str::to_owned).or_else(|| builder.get_config_value(&AzureConfigKey::Endpoint));
    if let Some(endpoint) = &endpoint {
        builder = builder.with_endpoint(endpoint.clone()).with_allow_http(endpoint.starts_with("http://"));
    }
    if settings.anonymous {
        builder = builder.with_skip_signature(true);
    }
    let server = server_of_azure(&builder, endpoint.as_deref());
    let connector = Connector::new(settings, endpoint.as_deref())?;
    let credentials = connector.credentials();
    let builder = builder.with_container_name(container);
    let store = builder.with_retry(no_retries()).with_http_connector(connector).build();
    let hint = "set AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN, or read a public container without credentials";
    let store = store.map_err(|error| error.to_string())?;
    Ok(Bucket::new(store, server, secrets(settings), BucketCredentials { slot: credentials, hint }))
}

/// What decides which server of Azure answers.
fn server_of_azure(builder: &MicrosoftAzureBuilder, endpoint: Option<&str>) -> String {
    let value = |key| builder.get_config_value(&key).unwrap_or_default();
    let flags = [value(AzureConfigKey::UseEmulator), value(AzureConfigKey::UseFabricEndpoint)];
    // The library itself asks the environment for it.
    let emulator = std::env::var("AZURITE_BLOB_STORAGE_URL").unwrap_or_default();
    format!("{} of {} {flags:?} {emulator}", endpoint.unwrap_or_default(), value(AzureConfigKey::AccountName))
}

/// The parts of Azure's connection string that are of use: `AccountName=...;AccountKey=...;BlobEndpoint=...`.
fn connection(text: &str) -> impl Iterator<Item = (AzureConfigKey, &str)> {
    text.split(';').filter_map(|part| {
        // A key in base64 may end with equals signs.
        let (name, value) = part.trim().split_once('=')?;
        let key = match name {
            "AccountName" => AzureConfigKey::AccountName,
            "AccountKey" => AzureConfigKey::AccessKey,
            "BlobEndpoint" => AzureConfigKey::Endpoint,
            "SharedAccessSignature" => AzureConfigKey::SasKey,
            _ => return None,
        };
        Some((key, value))
    })
}

/// The library tries once: the retries are ours, with our deadlines.
fn no_retries() -> RetryConfig {
    RetryConfig { max_retries: 0, ..RetryConfig::default() }
}

fn secrets(settings: &Settings) -> Vec<Secret> {
    let secret = |name: &str| SECRETS.iter().any(|part| name.contains(part));
    let values = settings
        .credentials
        .variables
        .iter()
        .filter(|(name, value)| secret(name) && value.expose().len() >= SECRET_LENGTH);
    values.map(|(_, value)| value.clone()).collect()
}

fn without_secrets(settings: &Settings, mut text: String) -> String {
    for secret in secrets(settings) {
        text = text.replace(secret.expose(), "(hidden)");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_of_alibaba_is_before_the_host() {
        let oss = "https://oss-cn-hangzhou.aliyuncs.com";
        let expected = ("https://b.oss-cn-hangzhou.aliyuncs.com".to_owned(), true);
        assert_eq!(s3_endpoint(oss, "b", None), expected);
        assert_eq!(s3_endpoint("https://b.oss-cn-hangzhou.aliyuncs.com/", "b", None), expected);
        assert_eq!(s3_endpoint(oss, "b", Some(false)), (oss.to_owned(), false));
        assert_eq!(s3_endpoint("http://minio:9000/", "b", None), ("http://minio:9000".to_owned(), false));
        assert_eq!(s3_endpoint("http://minio:9000", "b", Some(true)), ("http://b.minio:9000".to_owned(), true));
        assert_eq!(s3_endpoint("bucket.example", "b", Some(true)), ("https://b.bucket.example".to_owned(), true));
    }

    #[test]
    fn rule_54_a_region_cannot_choose_the_server() {
        let address = Address::parse("s3://b/a").unwrap();
        let with = |region: &str| Settings { anonymous: true, region: Some(region.into()), ..Settings::default() };
        for region in ["eu-central-1", "RegionOne", "auto"] {
            open(&address, &with(region)).unwrap();
        }
        for region in ["x.evil.example/", "evil.example", "a@b", "a:1", "a#", "", "a\\b", &"a".repeat(65)] {
            assert!(open(&address, &with(region)).unwrap_err().contains("the region"), "{region}");
        }
        for name in ["AWS_REGION", "AWS_DEFAULT_REGION", "aws_region"] {
            let settings = Settings::from_variables([(name.into(), "x.evil.example/".into())]);
            let is_ours = !settings.credentials.variables.is_empty();
            assert_eq!(open(&address, &settings).is_err(), is_ours, "{name}");
        }
    }

    type Variables<'a> = &'a [(&'a str, &'a str)];

    /// The servers of stores with these variables.
    fn servers<const N: usize>(url: &str, variables: [Variables<'_>; N]) -> [String; N] {
        variables.map(|variables| {
            let variables = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
            let settings = Settings { anonymous: true, ..Settings::from_variables(variables) };
            open(&Address::parse(url).unwrap(), &settings).unwrap().server().to_owned()
        })
    }

    #[test]
    fn rule_54_each_variable_that_chooses_a_server_is_part_of_its_name_and_credentials_are_not() {
        let account = r#"{"gcs_base_url": "http://h:3", "private_key": "", "private_key_id": "", "client_email": "", "disable_oauth": true}"#;
        let string = "AccountName=acc;BlobEndpoint=http://h:2/acc";
        let different: [(&str, [Variables<'_>; 5]); 3] = [
            (
                "s3://b/",
                [
                    &[],
                    &[("AWS_REGION", "cn-north-1")],
                    &[("AWS_ENDPOINT_URL", "http://h:1")],
                    &[("AWS_ENDPOINT_URL_S3", "http://h:2"), ("AWS_ENDPOINT_URL", "http://h:1")],
                    &[("AWS_ENDPOINT", "http://h:3")],
                ],
            ),
            (
                "gs://b/",
                [
                    &[],
                    &[("STORAGE_EMULATOR_HOST", "h:1")],
                    &[("GOOGLE_BASE_URL", "http://h:2")],
                    &[("GOOGLE_SERVICE_ACCOUNT_KEY", account)],
                    &[("GOOGLE_SERVICE_ACCOUNT_KEY", account), ("GOOGLE_BASE_URL", "http://h:4")],
                ],
            ),
            (
                "az://c/",
                [
                    &[("AZURE_STORAGE_ACCOUNT", "acc")],
                    &[("AZURE_STORAGE_ACCOUNT_NAME", "other")],
                    &[("AZURE_STORAGE_CONNECTION_STRING", string)],
                    &[("AZURE_STORAGE_ACCOUNT", "acc"), ("AZURE_STORAGE_ENDPOINT", "http://h:3")],
                    &[("AZURE_STORAGE_ACCOUNT", "acc"), ("AZURE_USE_FABRIC_ENDPOINT", "true")],
                ],
            ),
        ];
        for (url, variables) in different {
            let found = servers(url, variables);
            let unique: std::collections::BTreeSet<&String> = found.iter().collect();
            assert_eq!(unique.len(), found.len(), "{url}: {found:?}");
        }
        let [one, other] = servers(
            "s3://b/",
            [&[("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")], &[("AWS_SESSION_TOKEN", "hunter2")]],
        );
        assert_eq!(one, other, "new credentials are for the same bytes");
    }

    #[test]
    fn a_connection_string_of_azure_has_the_account_its_key_and_its_endpoint() {
        let text = "DefaultEndpointsProtocol=http;AccountName=dev;AccountKey=Zm9vYg==; BlobEndpoint=http://h:1/dev;x";
        let parts: Vec<_> = connection(text).collect();
        let expected = [
            (AzureConfigKey::AccountName, "dev"),
            (AzureConfigKey::AccessKey, "Zm9vYg=="),
            (AzureConfigKey::Endpoint, "http://h:1/dev"),
        ];
        assert_eq!(parts, expected);
        assert_eq!(connection("").count() + connection(";;=;a=b").count(), 0);
        let settings = Settings::from_variables([("AZURE_STORAGE_CONNECTION_STRING".into(), text.into())]);
        open(&Address::parse("az://c/a").unwrap(), &settings).unwrap();
    }

    #[test]
    fn an_azure_url_without_an_account_says_what_to_set() {
        let address = Address::parse("az://c/a").unwrap();
        let error = open(&address, &Settings { anonymous: true, ..Settings::default() }).unwrap_err();
        assert!(error.contains("AZURE_STORAGE_ACCOUNT_NAME"), "{error}");
    }

    #[test]
    fn rule_54_what_a_vendor_s_library_says_of_credentials_has_no_secret() {
        let variables = [("AZURE_STORAGE_ACCOUNT", "acc"), ("AZURE_STORAGE_KEY", "not-base64-hunter2!")];
        let settings = Settings::from_variables(variables.map(|(name, value)| (name.into(), value.into())));
        let error = open(&Address::parse("az://c/a").unwrap(), &settings).unwrap_err();
        assert!(!error.contains("hunter2"), "{error}");
    }
}
