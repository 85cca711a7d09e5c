-- The block indexes of datasets' tables have been there since 0001 and 0003; from here on the schema names them, and nothing changes.
SELECT 1;
