//! Rate cards.

paths! {
    "/rate-cards" => RateCards;
    /// The form of a new rate, and of a file of them.
    "/rate-cards/new" => NewRate;
    "/rate-cards/file" => RateFile;
    /// The form that changes a rate.
    #[derive(Copy)]
    "/rate-cards/{rate}" => AgreedRate { rate: i64 };
    "/rate-cards/{rate}/remove" => RateRemove { rate: i64 };
}
