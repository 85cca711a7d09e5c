import type { Principal } from '@chainstead/http';
import type { ToolResult } from '../results/tool-result.ts';

export interface ToolDefinition {
  readonly name: string;
  /** One to three sentences: the result, and when to use it. */
  readonly description: string;
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

export interface ToolCaller {
  /** Null on a server without keys. */
  readonly principal: Principal | null;
  readonly requestId: string;
  readonly signal?: AbortSignal | undefined;
}

export interface Toolbox {
  list(): Promise<readonly ToolDefinition[]>;
  call(name: string, given: ToolArguments, caller: ToolCaller): Promise<ToolResult>;
}
