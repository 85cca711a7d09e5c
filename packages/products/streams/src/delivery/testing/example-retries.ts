/** The default of `WEBHOOK_RETRIES`. */
export const EXAMPLE_DELAYS_MS: readonly number[] = [
  60_000, 600_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000,
];
