-- PostgreSQL knows how what keys say goes together once it has looked at them, and of keys that are there already it would
-- only do so after many new ones.
analyze charge_keys;
