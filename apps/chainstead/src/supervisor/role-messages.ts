import type { MetricFamilies } from '@chainstead/core';
import { z } from 'zod';
import { ROLE_NAMES } from '../configuration/index.ts';

const metricFamilies = z.custom<MetricFamilies>((value) => Array.isArray(value));

const ready = z.object({ type: z.literal('ready'), role: z.enum(ROLE_NAMES), address: z.string().nullable() });
/** Time for one more request on keep-alive connections, if another process has taken over. */
const stop = z.object({ type: z.literal('stop'), idleGraceMs: z.number() });
/** From an API process: requests the metrics of all other processes. From the supervisor: requests those of this process. */
const metricsRequest = z.object({ type: z.literal('metrics-request'), id: z.number().int() });
const metricsAnswer = z.object({
  type: z.literal('metrics-answer'),
  id: z.number().int(),
  processes: z.array(metricFamilies),
});

/** Parts of an upstream limit: calls per second, or requests in flight. */
const units = z.number().int().nonnegative();
/** Share of a limit, identified by a hash of the upstream and the limit, because a URL contains secrets. Each share has a number. */
const shared = { upstream: z.string(), number: z.number().int() };
/** To the supervisor: the parts of the limit, those that the process could use, and the most that it uses since that share. */
const limitReport = z.object({ type: z.literal('limit-report'), ...shared, units, wanted: units, held: units });
/** From the supervisor: the parts that the process may use from now on. */
const limitShare = z.object({ type: z.literal('limit-share'), ...shared, share: units });
/** To the helped command: number of logs read and committed so far. */
const helped = z.object({ type: z.literal('helped'), logs: z.number().int().nonnegative() });

const roleMessage = z.discriminatedUnion('type', [
  ready,
  stop,
  metricsRequest,
  metricsAnswer,
  limitReport,
  limitShare,
  helped,
]);
export type RoleMessage = z.output<typeof roleMessage>;
export type LimitReport = z.output<typeof limitReport>;
export type LimitShare = z.output<typeof limitShare>;

export function parseRoleMessage(value: unknown): RoleMessage | null {
  const parsed = roleMessage.safeParse(value);
  return parsed.success ? parsed.data : null;
}
