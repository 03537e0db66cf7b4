//! The list of prices and its changes.

paths! {
    "/prices" => Prices;
    /// The form of a new price, and of a file of them.
    "/prices/new" => NewPrice;
    "/prices/file" => PricesFile;
    /// Prices of a million tokens.
    "/prices/tokens" => TokenPrices;
    "/prices/tokens/{price}/remove" => TokenPriceRemove { price: i64 };
    "/prices/tokens/{price}/restore" => TokenPriceRestore { price: i64 };
    /// An offer, by its id: its readings, and the form that changes it.
    "/prices/offers/{offer}" => PriceOffer { offer: String };
    "/prices/offers/{offer}/remove" => PriceRemove { offer: String };
}
