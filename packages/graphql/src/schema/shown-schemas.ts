/** Schemas of Postgres whose tables and views are shown. */
export const SHOWN_SCHEMAS = ['contracts', 'analytics'] as const;
