/** Postgres' channel on which committed webhooks are announced. The outbox remains the truth. */
export const DELIVERIES_CHANNEL = 'chainstead_deliveries';
