/** What role processes and their supervisor say to each other over the IPC channel. */
import type { MetricFamilies } from '@chainstead/core';
import { z } from 'zod';
import { ROLE_NAMES } from '../configuration/index.ts';

const metricFamilies = z.custom<MetricFamilies>((value) => Array.isArray(value));

const ready = z.object({ type: z.literal('ready'), role: z.enum(ROLE_NAMES), address: z.string().nullable() });
const stop = z.object({ type: z.literal('stop') });
/** From the API's process: the metrics of the others, please. From the supervisor: yours, please. */
const metricsRequest = z.object({ type: z.literal('metrics-request'), id: z.number().int() });
const metricsAnswer = z.object({
  type: z.literal('metrics-answer'),
  id: z.number().int(),
  processes: z.array(metricFamilies),
});

const roleMessage = z.discriminatedUnion('type', [ready, stop, metricsRequest, metricsAnswer]);
export type RoleMessage = z.output<typeof roleMessage>;

/** The message, or null for anything else that came over the channel. */
export function parseRoleMessage(value: unknown): RoleMessage | null {
  const parsed = roleMessage.safeParse(value);
  return parsed.success ? parsed.data : null;
}
