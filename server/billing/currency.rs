//! Currencies as files write them: a code, or the name of a virtual currency. What is plainly meant as money and is no code
//! is rejected with the code to write.

use std::borrow::Cow;

use crate::money::Currency;

/// The last currency read from a column, and its text: most rows repeat it.
#[derive(Default)]
pub(super) struct CurrencyColumn {
    text: Vec<u8>,
    currency: String,
}

impl CurrencyColumn {
    /// Writes the currency in canonical form into `out`.
    ///
    /// # Errors
    /// What was expected.
    pub fn read(&mut self, text: &[u8], out: &mut String) -> Result<(), Cow<'static, str>> {
        if text != self.text.as_slice() || self.currency.is_empty() {
            let currency = currency(text.trim_ascii())?;
            self.text.clear();
            self.text.extend_from_slice(text);
            currency.as_str().clone_into(&mut self.currency);
        }
        out.push_str(&self.currency);
        Ok(())
    }
}

const A_CURRENCY: &str = "a currency such as USD";

/// The currency that a text is.
///
/// # Errors
/// What was expected.
fn currency(text: &[u8]) -> Result<Currency, Cow<'static, str>> {
    let text = std::str::from_utf8(text).map_err(|_| A_CURRENCY)?;
    let small = text.to_lowercase().replace('.', "");
    let small = small.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((_, code)) = NO_CODES.iter().find(|(names, _)| names.contains(&small.as_str())) {
        return Err(write(code));
    }
    let letters: String = text.chars().filter(char::is_ascii_alphabetic).collect();
    let code = letters.to_ascii_uppercase();
    let is_code = Currency::parse(&code).is_some_and(|code| code.is_standard());
    if is_code && letters.len() != text.len() {
        return Err(write(&code));
    }
    if let Some((sign, codes)) = SIGNS.iter().find(|(sign, _)| text.contains(*sign)) {
        return Err(match codes {
            [code] => write(code),
            [first, second, third, ..] => format!(
                "the code of the currency: {sign} is the sign of {first}, {second}, {third} and others"
            )
            .into(),
            codes => {
                format!("the code of the currency: {sign} is the sign of {}", codes.join(" and ")).into()
            }
        });
    }
    Currency::parse(text).ok_or(A_CURRENCY.into())
}

fn write(code: &str) -> Cow<'static, str> {
    format!("the code {code}").into()
}

/// Signs of currencies, and whose they are.
const SIGNS: &[(char, &[&str])] = &[
    (
        '$',
        &[
            "USD", "CAD", "AUD", "NZD", "SGD", "HKD", "TWD", "MXN", "BRL", "ARS", "BBD", "BMD", "BND", "BSD",
            "BZD", "CLP", "COP", "CUP", "CVE", "DOP", "FJD", "GYD", "JMD", "KYD", "LRD", "MOP", "NAD", "NIO",
            "SBD", "SRD", "TOP", "TTD", "UYU", "XCD",
        ],
    ),
    ('€', &["EUR"]),
    ('£', &["GBP", "EGP", "FKP", "GIP", "LBP", "SDG", "SHP", "SSP", "SYP"]),
    ('¥', &["JPY", "CNY"]),
    ('￥', &["JPY", "CNY"]),
    ('₹', &["INR"]),
    ('₩', &["KRW"]),
    ('₪', &["ILS"]),
    ('₺', &["TRY"]),
    ('₽', &["RUB"]),
    ('₫', &["VND"]),
    ('₴', &["UAH"]),
    ('₦', &["NGN"]),
    ('₱', &["PHP"]),
    ('฿', &["THB"]),
];

/// Why an amount with this sign is none of this currency; `None` where the two agree.
pub(super) fn disagreement(sign: char, currency: &str) -> Option<String> {
    let (_, codes) = SIGNS.iter().find(|(known, _)| *known == sign)?;
    let agrees = codes.iter().any(|code| code.eq_ignore_ascii_case(currency));
    (!agrees).then(|| {
        let codes = if codes.len() > 3 {
            format!("{} and others", codes[..3].join(", "))
        } else {
            codes.join(" and ")
        };
        format!("an amount in {currency}, the currency of its row: {sign} is the sign of {codes}")
    })
}

/// What people write for a code, in lower case and without points.
const NO_CODES: &[(&[&str], &str)] = &[
    (
        &[
            "us$",
            "u$",
            "$us",
            "usd$",
            "us dollar",
            "us dollars",
            "dollar us",
            "american dollar",
            "united states dollar",
        ],
        "USD",
    ),
    (&["dollar", "dollars"], "of the dollars that are meant: USD, CAD, AUD or another"),
    (&["c$", "ca$", "cad$", "can$", "canadian dollar", "canadian dollars"], "CAD"),
    (&["a$", "au$", "aud$", "australian dollar", "australian dollars"], "AUD"),
    (&["nz$", "new zealand dollar"], "NZD"),
    (&["s$", "sg$", "singapore dollar", "singapore dollars"], "SGD"),
    (&["hk$", "hong kong dollar", "hong kong dollars"], "HKD"),
    (&["nt$", "tw$", "taiwan dollar"], "TWD"),
    (&["mx$", "mex$", "mexican peso", "mexican pesos"], "MXN"),
    (&["r$", "real", "reais", "brazilian real"], "BRL"),
    (&["euro", "euros"], "EUR"),
    (
        &["pound", "pounds", "pound sterling", "pounds sterling", "sterling", "british pound", "ukp", "gb£"],
        "GBP",
    ),
    (&["yen", "japanese yen", "jp¥"], "JPY"),
    (&["yuan", "renminbi", "rmb", "chinese yuan", "cn¥"], "CNY"),
    (&["franc", "francs", "swiss franc", "swiss francs", "sfr", "franken", "schweizer franken"], "CHF"),
    (&["rupee", "rupees", "indian rupee", "indian rupees", "rs"], "INR"),
    (&["won", "korean won", "south korean won"], "KRW"),
    (&["kr", "krona", "kronor", "krone", "kroner"], "of the crowns that are meant: SEK, NOK or DKK"),
    (&["zł", "zloty", "złoty"], "PLN"),
    (&["shekel", "shekels", "nis"], "ILS"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_virtual_currencies_are_read() {
        for (text, expected) in [
            ("USD", "USD"),
            ("eur", "EUR"),
            ("Token", "Token"),
            ("AI credits", "AI credits"),
            ("DBU", "DBU"),
            (" USD ", "USD"),
        ] {
            let mut out = String::new();
            let mut column = CurrencyColumn::default();
            for _ in 0..2 {
                out.clear();
                column.read(text.as_bytes(), &mut out).unwrap();
                assert_eq!(out, expected, "{text}");
            }
        }
    }

    #[test]
    fn what_is_meant_as_money_and_is_no_code_says_what_to_write() {
        for (text, expected) in [
            ("US$", "the code USD"),
            ("usd.", "the code USD"),
            ("USD ($)", "the code USD"),
            ("U.S. dollars", "the code USD"),
            ("$", "the code of the currency: $ is the sign of USD, CAD, AUD and others"),
            ("Dollar", "the code of the dollars that are meant: USD, CAD, AUD or another"),
            ("EURO", "the code EUR"),
            ("€", "the code EUR"),
            ("EUR €", "the code EUR"),
            ("£", "the code of the currency: £ is the sign of GBP, EGP, FKP and others"),
            ("¥", "the code of the currency: ¥ is the sign of JPY and CNY"),
            ("RMB", "the code CNY"),
            ("C$", "the code CAD"),
            ("12", "a currency such as USD"),
            ("", "a currency such as USD"),
        ] {
            let error = CurrencyColumn::default().read(text.as_bytes(), &mut String::new()).unwrap_err();
            assert_eq!(error, expected, "{text}");
        }
    }

    #[test]
    fn a_sign_agrees_with_its_currencies_and_no_others() {
        for (sign, currency, agrees) in [
            ('$', "USD", true),
            ('$', "usd", true),
            ('$', "CAD", true),
            ('$', "MXN", true),
            ('$', "EUR", false),
            ('$', "Token", false),
            ('€', "EUR", true),
            ('€', "USD", false),
            ('£', "GBP", true),
            ('£', "USD", false),
            ('¥', "JPY", true),
            ('¥', "CNY", true),
            ('¥', "EUR", false),
        ] {
            assert_eq!(disagreement(sign, currency).is_none(), agrees, "{sign} {currency}");
        }
    }
}
