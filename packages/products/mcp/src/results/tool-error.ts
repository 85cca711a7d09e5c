import { z } from 'zod';
import type { ToolResult } from './tool-result.ts';

export interface ToolRefusal {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
  readonly details?: unknown;
}

export function toolError(refusal: ToolRefusal): ToolResult {
  return { texts: [JSON.stringify({ error: refusal })], isError: true };
}

export function routeError(status: number, body: unknown): ToolResult {
  const answer = typeof body === 'object' && body !== null ? body : {};
  const isSetting = 'details' in answer && settingShape.safeParse(answer.details).success;
  const { code, remedy, message: usual } = isSetting ? NOT_INDEXED : (REFUSALS[status] ?? INTERNAL);
  const message = 'message' in answer && typeof answer.message === 'string' ? answer.message : usual;
  return toolError({ code, message, remedy, ...('details' in answer && { details: answer.details }) });
}

const settingShape = z.looseObject({ reason: z.literal('not-indexed'), configuration_key: z.string() });

const NOT_INDEXED: ToolRefusal = {
  code: 'NOT_INDEXED',
  message: 'The data is not indexed',
  remedy: 'This server does not index such data. Use another tool or chain, or name the setting to the operator.',
};

const INTERNAL: ToolRefusal = {
  code: 'INTERNAL',
  message: 'Internal error',
  remedy: 'Retry once. If the error repeats, report it to the operator, who finds it in the application log.',
};

const UNAVAILABLE: ToolRefusal = {
  code: 'UNAVAILABLE',
  message: 'Temporarily unavailable',
  remedy: 'Wait a few seconds, then call the tool again.',
};

/** By HTTP status; messages are for responses without one. 202: data is being counted. */
const REFUSALS: Readonly<Record<number, ToolRefusal>> = {
  202: UNAVAILABLE,
  400: {
    code: 'INVALID_PARAMETER',
    message: 'An argument is not valid',
    remedy: 'Correct the arguments that the message names, then call the tool again.',
  },
  404: {
    code: 'NOT_FOUND',
    message: 'There is no such data',
    remedy: 'Check the address, name or chain. Call the tool status to see which chains and blocks are indexed.',
  },
  413: {
    code: 'TOO_LARGE',
    message: 'The request or its result is too large',
    remedy: 'Request less: a shorter list, fewer blocks, or a smaller limit.',
  },
  429: {
    code: 'RATE_LIMITED',
    message: 'Too many requests',
    remedy: 'Wait for the time in the message, then call the tool again.',
  },
  501: {
    code: 'NOT_AVAILABLE',
    message: 'This server does not offer the operation',
    remedy: 'The operator has to change the setting that the message names.',
  },
  503: UNAVAILABLE,
};
