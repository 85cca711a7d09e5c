export const DELIVERIES_CHANNEL = 'chainstead_deliveries';
