/** Postgres channel that announces committed webhooks. The outbox remains authoritative. */
export const DELIVERIES_CHANNEL = 'chainstead_deliveries';
