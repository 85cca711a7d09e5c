import { z } from 'zod';
import type { ToolResult } from '../tools/tool.ts';

/** A refusal that an agent can act on. */
export interface ToolRefusal {
  readonly code: string;
  /** What happened, with the value. */
  readonly message: string;
  /** What the agent or its operator can do. */
  readonly remedy: string;
  readonly details?: unknown;
}

/** Returns the result of a tool that failed. */
export function toolError(refusal: ToolRefusal): ToolResult {
  return { texts: [JSON.stringify({ error: refusal })], isError: true };
}

/** Returns the result for an HTTP error of a route. */
export function routeError(status: number, body: unknown): ToolResult {
  const said = typeof body === 'object' && body !== null ? body : {};
  const isSetting = 'details' in said && settingShape.safeParse(said.details).success;
  const { code, remedy } = isSetting ? NOT_INDEXED : (REFUSALS[status] ?? INTERNAL);
  const message = 'message' in said && typeof said.message === 'string' ? said.message : `HTTP status ${status}`;
  return toolError({ code, message, remedy, ...('details' in said && { details: said.details }) });
}

/** A refusal that no other argument changes. */
const settingShape = z.looseObject({ reason: z.literal('not-indexed'), configuration_key: z.string() });

const NOT_INDEXED = {
  code: 'NOT_INDEXED',
  remedy: 'This server does not index such data. Use another tool or chain, or name the setting to the operator.',
};

const INTERNAL = {
  code: 'INTERNAL',
  remedy: 'Retry once. If the error repeats, report it to the operator, who finds it in the application log.',
};

const REFUSALS: Readonly<Record<number, Pick<ToolRefusal, 'code' | 'remedy'>>> = {
  400: { code: 'INVALID_PARAMETER', remedy: 'Correct the arguments that the message names, then call the tool again.' },
  404: {
    code: 'NOT_FOUND',
    remedy: 'Check the address, name or chain. Call the tool status to see which chains and blocks are indexed.',
  },
  413: { code: 'TOO_LARGE', remedy: 'Ask for less: a shorter list, fewer blocks, or a smaller limit.' },
  429: { code: 'RATE_LIMITED', remedy: 'Wait for the time in the message, then call the tool again.' },
  501: { code: 'NOT_AVAILABLE', remedy: 'The operator has to change the setting that the message names.' },
  503: { code: 'UNAVAILABLE', remedy: 'Wait a few seconds, then call the tool again.' },
};
