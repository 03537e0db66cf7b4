//! What columns may be, and the words that say so: in English and German, and a little French and Spanish.

/// What a column may be by its name: finer than [`Use`](crate::billing::mapping::Use), since of several columns with amounts
/// one is the cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    Start,
    End,
    Period,
    Date,
    Week,
    Month,
    Hour,
    /// When a bill was issued or is to be paid: rarely when a charge was.
    IssueDate,
    UnitPrice,
    /// Per unit or of a line: the other columns tell.
    Price,
    TaxRate,
    Tax,
    Net,
    Gross,
    Deduction,
    RunningTotal,
    Amount,
    Total,
    GpuHours,
    Hours,
    Quantity,
    AcceleratorCount,
    Currency,
    Unit,
    Invoice,
    Sku,
    Accelerator,
    Category,
    Description,
    Service,
    Resource,
    Region,
    Provider,
    SubAccount,
    Account,
    Tag,
}

/// Roles by the words of names, in lower case and without accents. Within a line, the earlier the better: of two columns that
/// could be the description, `description` is, and not `item`. Where several lines fit a name equally well, the earlier line
/// is tried first: what is counted or paid goes before what it is for, so that `GPU cost` is a cost.
pub(super) static WORDS: &[(&[Role], &str)] = {
    use Role::{
        Accelerator, AcceleratorCount, Account, Amount, Category, Currency, Date, Deduction, Description,
        End, GpuHours, Gross, Hour, Hours, Invoice, IssueDate, Month, Net, Period, Price, Provider, Quantity,
        Region, Resource, RunningTotal, Service, Sku, Start, SubAccount, Tag, Tax, TaxRate, Total, Unit,
        UnitPrice, Week,
    };
    &[
        (
            &[UnitPrice],
            "unit price|unit cost|unit rate|price per unit|price per hour|cost per hour|cost per unit|hourly rate|\
             hourly price|hourly cost|price hour|list price|list rate|rate|einzelpreis|stueckpreis|stundensatz|\
             stundenpreis|preis pro stunde|preis pro einheit|preis je stunde|preis je einheit|preis stunde|e preis|ep|\
             prix unitaire|pu|prix horaire|taux horaire|tarif|precio unitario|precio por hora|tarifa",
        ),
        (
            &[TaxRate],
            "tax rate|vat rate|gst rate|tax percent|vat percent|gst percent|tax code|vat code|tax id|vat id|\
             vat number|vat no|tax type|tax region|steuersatz|ust satz|mwst satz|ust percent|mwst percent|ust id|\
             ust idnr|steuernummer|steuerschluessel|taux tva|taux de tva|tva percent|iva percent|tipo iva|\
             exchange rate|fx rate|conversion rate|discount rate|wechselkurs",
        ),
        (
            &[Net],
            "net amount|net cost|net total|net price|net charge|net|nettobetrag|netto betrag|nettopreis|nettosumme|\
             netto|net of tax|excl tax|excl vat|ex vat|ex tax|excluding tax|excluding vat|before tax|pre tax|pretax|\
             without tax|ohne mwst|ohne ust|exkl mwst|exkl ust|zzgl mwst|montant ht|total ht|ht|hors taxe|hors taxes|\
             importe neto|neto|base imponible|sin iva|subtotal|sub total",
        ),
        (
            &[Gross],
            "gross amount|gross total|gross|bruttobetrag|brutto betrag|bruttosumme|brutto|incl tax|incl vat|inc tax|\
             inc vat|including tax|including vat|with tax|with vat|after tax|inkl mwst|inkl ust|mit mwst|mit ust|\
             montant ttc|total ttc|ttc|importe bruto|bruto|con iva|iva incluido",
        ),
        (
            &[Tax],
            "tax amount|sales tax|tax|taxes|vat amount|vat|gst|hst|pst|mwst betrag|mwst|ust betrag|ust|umsatzsteuer|\
             mehrwertsteuer|steuerbetrag|steuer|montant tva|tva|importe iva|cuota iva|iva|impuestos|impuesto",
        ),
        (
            &[RunningTotal],
            "running total|running balance|running cost|cumulative total|cumulative cost|cumulative|month to date|\
             mtd|year to date|ytd|balance|saldo|kontostand|kumuliert|solde|cumul|acumulado",
        ),
        (
            &[Deduction],
            "discount amount|discount|discounts|list cost|list amount|savings|credits|credit|rabatt|remise|\
             descuento",
        ),
        (
            &[Amount],
            "amount|cost|costs|billed cost|billed amount|unblended cost|charge|charges|fee|fees|total cost|\
             total amount|total charge|total price|line total|line amount|line cost|extended price|extended cost|\
             extended amount|ext price|invoice amount|spend|spent|betrag|kosten|gesamtpreis|gesamtkosten|\
             gesamtbetrag|rechnungsbetrag|positionsbetrag|positionspreis|preis gesamt|montant|montant total|\
             prix total|cout|couts|cout total|importe|importe total|monto|coste|costo|coste total|precio total",
        ),
        (&[Price], "price|preis|prix|precio"),
        (
            &[GpuHours],
            "gpu hours|gpu hrs|gpu hour|gpu h|gpu stunden|accelerator hours|chip hours|heures gpu|horas gpu",
        ),
        (
            &[Hours, Hour],
            "hours|hrs|hour|usage hours|instance hours|machine hours|node hours|duration hours|duration h|stunden|\
             stunde|std|betriebsstunden|nutzungsstunden|laufzeit|heures|heure|horas|hora|h|hr",
        ),
        (
            &[AcceleratorCount, Accelerator],
            "gpus|gpu count|gpus per machine|gpus per node|gpus per instance|gpus per server|number of gpus|num gpus|\
             no of gpus|gpu quantity|gpu qty|accelerators|accelerator count|anzahl gpus|anzahl gpu|gpu anzahl|\
             gpus pro server|nombre de gpu|nombre de gpus|nb gpu|numero de gpus",
        ),
        (
            &[Quantity, Unit],
            "quantity|qty|usage quantity|usage amount|consumed quantity|billed quantity|menge|anzahl|quantite|qte|\
             cantidad|cant|units|stueck|usage|consumption|verbrauch|duration|dauer",
        ),
        (
            &[Start],
            "usage start date|usage start time|usage start|period start|charge period start|billing period start|\
             start date|start time|start|service start|week starting|week start|week beginning|week commencing|\
             from date|date from|from|begin|begins|valid from|started at|started|startdatum|leistungsbeginn|\
             abrechnungsbeginn|beginn|von|ab|date de debut|date debut|debut|du|fecha de inicio|fecha inicio|inicio|\
             desde",
        ),
        (
            &[End],
            "usage end date|usage end time|usage end|period end|charge period end|billing period end|end date|\
             end time|end|service end|week ending|week end|to date|date to|to|until|through|thru|valid to|valid until|\
             ended at|ended|stop|enddatum|leistungsende|abrechnungsende|ende|bis|date de fin|date fin|fin|au|\
             fecha de fin|fecha fin|hasta",
        ),
        (
            &[IssueDate],
            "invoice date|issue date|date of issue|issued|bill date|billing date|statement date|due date|due|\
             payment date|paid date|paid at|paid|rechnungsdatum|faelligkeitsdatum|faelligkeit|faellig am|\
             zahlungsdatum|belegdatum|date de facture|date facture|date de facturation|date facturation|echeance|\
             fecha de factura|fecha factura|vencimiento",
        ),
        (
            &[Period],
            "service period|usage period|billing period|period|service dates|date range|dates|leistungszeitraum|\
             abrechnungszeitraum|zeitraum|periode|periodo",
        ),
        (
            &[Date],
            "usage date|service date|charge date|date|day|leistungsdatum|datum|jour|fecha|dia|timestamp|time|zeit|\
             zeitpunkt|buchungsdatum|transaction date|posting date|created at|created",
        ),
        (&[Week], "week of|week|woche|kw|semaine|semana"),
        (
            &[Month],
            "usage month|billing month|invoice month|month|leistungsmonat|abrechnungsmonat|rechnungsmonat|monat|mois|\
             mes",
        ),
        (&[Currency], "currency code|billing currency|currency|waehrung|devise|moneda|divisa|ccy|curr|cur"),
        (
            &[Unit, Quantity],
            "unit of measure|units of measure|unit|uom|uo m|usage unit|pricing unit|measure|mengeneinheit|einheit|\
             me|unite|unidad",
        ),
        (
            &[Invoice],
            "invoice number|invoice no|invoice nr|invoice id|invoice|bill number|bill id|statement id|\
             document number|rechnungsnummer|rechnungs nr|rechnungsnr|rechnung nr|rechnung|belegnummer|beleg|\
             numero de facture|numero facture|facture|numero de factura|numero factura|factura",
        ),
        (
            &[Sku],
            "sku|sku id|article number|article no|article|item number|item no|item code|part number|part no|\
             product code|product id|meter id|usage type|artikelnummer|artikelnr|artikel nr|art nr|artikel|\
             produktnummer|materialnummer|code article|reference|ref|referencia|codigo",
        ),
        (
            &[Accelerator, Resource],
            "instance type|machine type|gpu type|gpu model|accelerator type|server type|node type|vm type|vm size|\
             flavor|flavour|shape|hardware|machine|model|accelerator|instanztyp|maschinentyp|servertyp|gpu modell|\
             modell|maschine|type d instance|type instance|modele|tipo de instancia|tipo instancia|modelo|instance|\
             instanz|resource type",
        ),
        (&[Accelerator, AcceleratorCount], "gpu|graphics card|grafikkarte"),
        (
            &[Category, Accelerator, Service],
            "charge type|charge category|line item type|line type|record type|transaction type|billing type|\
             item type|cost type|category|kind|type|buchungsart|positionsart|kategorie|art|typ|type de ligne|\
             categorie|categoria|tipo",
        ),
        (
            &[Description, Service],
            "description|item description|line item description|product description|charge description|\
             usage description|beschreibung|bezeichnung|artikelbezeichnung|leistungsbeschreibung|descripcion|\
             designation|libelle|leistung|line item|item|concepto|prestation|gegenstand|buchungstext|details|detail|\
             desc|text|product name|product|produkt|produit|producto|memo|name",
        ),
        (
            &[Service],
            "service name|service|service type|service category|product family|product category|product group|\
             product type|dienst|servicio",
        ),
        (
            &[Resource],
            "resource id|resource name|resource|instance id|instance name|pod id|pod|server name|hostname|host|\
             machine id|machine name|node name|node|server|vm name|vm|ressource|ressourcen id|recurso|device|\
             serial number|cluster",
        ),
        (
            &[Region],
            "region|location|availability zone|zone|data center|data centre|datacenter|standort|rechenzentrum|site|\
             emplacement|ubicacion|centro de datos",
        ),
        (
            &[Provider],
            "provider|vendor|supplier|cloud provider|cloud|seller|publisher|anbieter|lieferant|kreditor|fournisseur|\
             proveedor",
        ),
        (
            &[SubAccount],
            "sub account id|sub account|subaccount|linked account id|linked account|usage account id|usage account|\
             member account|linked account name|subscription id|subscription|tenant|workspace|namespace|unterkonto|\
             sous compte|subcuenta",
        ),
        (
            &[Account],
            "billing account id|billing account|account id|account number|account no|account|payer account id|\
             payer account|customer id|customer number|customer no|customer|account name|customer name|kundennummer|\
             kundennr|kunden nr|kunde|konto|organization|organisation|contract number|contract|vertragsnummer|\
             vertrag|client|compte|cliente|cuenta",
        ),
        (
            &[Tag],
            "project|project name|project id|projekt|projet|proyecto|team|equipe|equipo|cost center|cost centre|\
             costcenter|cost category|kostenstelle|kst|kostentraeger|centre de cout|centre de couts|\
             centro de coste|centro de costes|centro de costo|department|dept|departement|departamento|abteilung|\
             bereich|business unit|group|gruppe|tag|tags|label|labels|etiquette|etiqueta|owner|user|user name|\
             benutzer|nutzer|environment|env|application|app|workload|purchase order|po number|po|bestellnummer|\
             job|experiment|queue",
        ),
        // In German, a day.
        (&[Date], "tag"),
        (&[Total], "total|totals|sum|summe|gesamt|gesamtsumme|suma"),
    ]
};
