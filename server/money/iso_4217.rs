//! The codes of ISO 4217 that are in use, with those for tests, metals and units of account.

/// In the order of the alphabet.
const CODES: &str = "\
    AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF \
    CHW CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD \
    HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL \
    MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON \
    RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX \
    USD USN UYI UYU UYW UZS VED VES VND VUV WST XAF XAG XAU XBA XBB XBC XBD XCD XCG XDR XOF XPD XPF XPT XSU XTS XUA XXX \
    YER ZAR ZMW ZWG";

/// All of them.
pub(super) fn codes() -> impl Iterator<Item = &'static str> {
    CODES.split(' ')
}

/// Whether a text of three capital letters is a code of the standard.
pub(super) fn is_code(text: &str) -> bool {
    codes().any(|code| code == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_known_and_stand_in_order() {
        assert!(CODES.split(' ').all(|code| code.len() == 3));
        assert!(CODES.split(' ').is_sorted());
        for code in ["USD", "EUR", "CHF", "JPY", "XXX"] {
            assert!(is_code(code), "{code}");
        }
        for text in ["XXQ", "usd", "", "USD EUR", "D U"] {
            assert!(!is_code(text), "{text}");
        }
    }
}
