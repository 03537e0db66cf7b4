//! What can be done. The words are stored and filtered by: they stay as they are.

use crate::enum_words::{words, written_as_str};

words! {
    /// Something that writes. What stands before the dot is its kind; `meaning` is for a person.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Verb: as_str, meaning {
        SignedIn = "sign_in.accepted", "signed in";
        SignInRefused = "sign_in.refused", "sign-in refused";
        SignInBlocked = "sign_in.blocked", "sign-in blocked after too many failures";
        CurrentPasswordRefused = "sign_in.password_refused", "current password refused";
        SignedOut = "sign_in.ended", "signed out";
        FirstAdmin = "person.first_admin", "first administrator";
        PersonAdded = "person.added", "added";
        PersonChanged = "person.changed", "changed";
        PersonDisabled = "person.disabled", "disabled";
        PersonEnabled = "person.enabled", "enabled";
        PersonSignedOut = "person.signed_out", "signed out everywhere";
        LinkMade = "person.link_made", "password link made";
        PasswordSet = "person.password_set", "password chosen through a link";
        PasswordChanged = "person.password_changed", "password changed";
        SessionEnded = "person.session_ended", "session ended";
        TokenMade = "token.made", "token made";
        TokenRevoked = "token.revoked", "token revoked";
        ImportUploaded = "import.uploaded", "files uploaded";
        ImportCancelled = "import.cancelled", "upload canceled";
        ImportRetried = "import.retried", "upload tried again";
        DeliveryPublished = "delivery.published", "published";
        DeliveryKept = "delivery.kept", "not published: needs review";
        DeliveryReplaced = "delivery.replaced", "replaced earlier import";
        DeliveryAdded = "delivery.added", "added to earlier import";
        DeliveryExplained = "delivery.explained", "gave reason for smaller month";
        DeliveryDiscarded = "delivery.discarded", "discarded";
        DeliveryLoadedAgain = "delivery.loaded_again", "asked to restore rows";
        ArchivingSet = "storage.archiving_set", "archiving of imports changed";
        ImportsArchived = "storage.archived", "inactive imports archived";
        FilesRemoved = "storage.files_removed", "files of archived imports removed";
        UploadLimitsSet = "storage.upload_limits_set", "limits of uploads changed";
        TokenPriceAdded = "prices.token_price_added", "token price added";
        TokenPriceRemoved = "prices.token_price_removed", "token price removed";
        TokenPriceRestored = "prices.token_price_restored", "token price restored";
        ImportReviewSet = "import.review_set", "review of imports changed";
        ImportLimitsSet = "import.limits_set", "limits of imports changed";
        RatesSet = "rates.set", "exchange rates set";
        RateRemoved = "rates.removed", "exchange rate removed";
        ReportingCurrencySet = "rates.reporting_currency_set", "reporting currency chosen";
        InvoiceEntered = "invoice.entered", "invoice entered";
        InvoiceRemoved = "invoice.removed", "invoice removed";
        ChangeDrafted = "allocation.drafted", "allocation change drafted";
        ChangeProposed = "allocation.proposed", "allocation change proposed";
        ChangeApplied = "allocation.applied", "allocation change applied";
        ChangeUndone = "allocation.undone", "allocation change undone";
        ChangeDiscarded = "allocation.discarded", "allocation change discarded";
        QuantitiesSet = "allocation.quantities_set", "quantities entered";
        QuantitiesRemoved = "allocation.quantities_removed", "quantities removed";
        AssetRegisterChanged = "register.changed", "asset register changed";
        AssetRegisterProposed = "register.proposed", "asset register change proposed";
        AssetRegisterUndone = "register.undone", "asset register change undone";
        AssetRegisterDiscarded = "register.discarded", "asset register change discarded";
        ClusterPublished = "register.published", "months of a cluster published";
        ScenarioMade = "scenario.made", "scenario made";
        ScenarioSaved = "scenario.saved", "version of a scenario saved";
        ScenarioShared = "scenario.shared", "scenario shared";
        ScenarioUnshared = "scenario.unshared", "scenario no longer shared";
        ScenarioRemoved = "scenario.removed", "scenario removed";
        ScenarioBroughtBack = "scenario.brought_back", "scenario brought back";
        PricesImported = "prices.imported", "file of prices imported";
        PricesProposed = "prices.proposed", "price change proposed";
        PricesChanged = "prices.changed", "prices changed";
        PricesUndone = "prices.undone", "price change undone";
        PricesDiscarded = "prices.discarded", "price change discarded";
        RateCardsDrafted = "rate_cards.drafted", "rate card change drafted";
        RateCardsProposed = "rate_cards.proposed", "rate card change proposed";
        RateCardsChanged = "rate_cards.changed", "rate cards changed";
        RateCardsUndone = "rate_cards.undone", "rate card change undone";
        RateCardsDiscarded = "rate_cards.discarded", "rate card change discarded";
        AdjustmentsDrafted = "adjustments.drafted", "adjustment change drafted";
        AdjustmentsProposed = "adjustments.proposed", "adjustment change proposed";
        AdjustmentsChanged = "adjustments.changed", "adjustments changed";
        AdjustmentsUndone = "adjustments.undone", "adjustment change undone";
        AdjustmentsDiscarded = "adjustments.discarded", "adjustment change discarded";
        AdjustmentsComputed = "adjustments.computed", "adjustments of a bill computed";
        DeliveryRepriced = "delivery.repriced", "priced by changed rate cards";
        CatalogAdded = "catalog.added", "added to catalog";
        CatalogRemoved = "catalog.removed", "removed from catalog";
        UsageImported = "usage.imported", "usage imported";
        PrometheusAdded = "prometheus.added", "Prometheus added";
        PrometheusChanged = "prometheus.changed", "Prometheus changed";
        PrometheusReadAgain = "prometheus.read_again", "Prometheus read again";
        PrometheusRemoved = "prometheus.removed", "Prometheus removed";
        UsageDivided = "usage.divided", "machines divided by use";
        UsageDivisionAsked = "usage.division_asked", "division by use asked for again";
        UsageUndone = "usage.undone", "usage import undone";
        NodeMatched = "usage.node_matched", "node matched to machine";
        ClockChanged = "usage.clock_changed", "clock of a cluster changed";
        MappingSaved = "mapping.saved", "mapping saved";
        MappingRemoved = "mapping.removed", "mapping removed";
        DeliveryUndone = "delivery.undone", "undone";
    }
}

// Reading fails for words stored by a newer version; pages then show the word itself.
written_as_str!(Verb);

impl Verb {
    /// `delivery` of `delivery.undone`.
    pub fn kind(self) -> &'static str {
        self.as_str().split('.').next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_words_are_a_kind_and_a_past_tense_and_each_stands_once() {
        let mut words = Verb::ALL.map(Verb::as_str).to_vec();
        for word in &words {
            assert_eq!(word.matches('.').count(), 1, "{word}");
            assert!(word.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'.' | b'_')), "{word}");
        }
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Verb::ALL.len());
        assert_eq!("delivery.undone".parse(), Ok(Verb::DeliveryUndone));
        assert_eq!(Verb::DeliveryUndone.kind(), "delivery");
    }
}
