//! The catalog of accelerators, and what is added to it.

paths! {
    "/catalog" => Catalog;
    "/catalog/new" => NewAddition;
    #[derive(Copy)]
    "/catalog/additions/{addition}" => CatalogAddition { addition: i64 };
    "/catalog/additions/{addition}/remove" => CatalogAdditionRemove { addition: i64 };
}
