import type { Principal } from '@chainstead/http';
import type { ToolResult } from '../results/tool-result.ts';

/** A tool as agents see it. */
export interface ToolDefinition {
  readonly name: string;
  /** One to three sentences: the result, and when to use it. */
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: ToolSchema;
}

export interface ToolSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, object>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

export interface Tool extends ToolDefinition {
  /** Runs the tool. Refusals are results, not exceptions. */
  call(given: ToolArguments, caller: ToolCaller): Promise<ToolResult>;
}

export type ToolArguments = Readonly<Record<string, unknown>>;

/** The client on whose behalf a tool runs. */
export interface ToolCaller {
  /** Null on a server without keys. */
  readonly principal: Principal | null;
  readonly requestId: string;
  /** Aborts when the client has left. */
  readonly signal?: AbortSignal | undefined;
}

/** The tools of a server, here or on another machine. */
export interface Toolbox {
  list(): Promise<readonly ToolDefinition[]>;
  call(name: string, given: ToolArguments, caller: ToolCaller): Promise<ToolResult>;
}
