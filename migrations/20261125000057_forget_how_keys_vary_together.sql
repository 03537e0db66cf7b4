-- To learn how seven columns vary together took seven seconds of a core after each import of many new keys, 120 groups of them
-- by sorting each. The one question that was planned by it asks for its plan itself now.
drop statistics charge_keys_together;
