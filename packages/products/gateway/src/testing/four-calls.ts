import type { GatewayLimits } from '../gateway-server.ts';

/** A window longer than any test: no allowance is refilled while a machine stalls. */
const LONG_WINDOW = { windowMs: 4_000_000 };
const FOUR_IN_WINDOW = 0.001;

/** A key has four of the lightest calls in total. */
export const WEIGHT_OF_FOUR: Partial<GatewayLimits> = { ...LONG_WINDOW, weightPerSecond: FOUR_IN_WINDOW };

/** A key has four calls in total, whatever their weight. */
export const FOUR_CALLS: Partial<GatewayLimits> = { ...LONG_WINDOW, allCallsPerSecond: FOUR_IN_WINDOW };

/** A key has four calls of the method in total. */
export function fourCallsOf(method: string): Partial<GatewayLimits> {
  return { ...LONG_WINDOW, callsPerSecond: new Map([[method, FOUR_IN_WINDOW]]) };
}
