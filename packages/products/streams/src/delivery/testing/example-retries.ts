import type { RetryPolicy } from '../retry-policy.ts';

/** As the settings are by default. */
export const EXAMPLE_RETRIES: RetryPolicy = {
  retries: 7,
  delaysMs: [60_000, 600_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000],
};
