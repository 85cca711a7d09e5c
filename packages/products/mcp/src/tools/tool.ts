import type { Principal } from '@chainstead/http';
import { type ToolResult, toolError } from '../results/tool-result.ts';

interface ToolDefinition {
  readonly name: string;
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
  /** Refusals are results, not exceptions. */
  call(given: ToolArguments, caller: ToolCaller): Promise<ToolResult>;
}

export type ToolArguments = Readonly<Record<string, unknown>>;

export interface ToolCaller {
  readonly principal: Principal | null;
  readonly requestId: string;
  readonly signal?: AbortSignal | undefined;
}

export interface Toolbox {
  list(): Promise<readonly ToolDefinition[]>;
  call(name: string, given: ToolArguments, caller: ToolCaller): Promise<ToolResult>;
}

/** Arguments are checked by name here, and by value in each tool. */
export function localToolbox(tools: readonly Tool[]): Toolbox {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    list: async () => tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    async call(name, all, caller) {
      const tool = byName.get(name);
      if (tool === undefined)
        return toolError({
          code: 'UNKNOWN_TOOL',
          message: `There is no tool ${JSON.stringify(name.slice(0, NAME_LENGTH_MAX))}`,
          remedy: `Use one of: ${[...byName.keys()].join(', ')}.`,
        });
      const { properties, required } = tool.inputSchema;
      // Many clients send null or an empty text for omitted arguments.
      const given = Object.fromEntries(
        Object.entries(all).filter(
          ([key, value]) => value !== null && !(value === '' && Object.hasOwn(properties, key)),
        ),
      );
      const unknown = Object.keys(given).filter((key) => !Object.hasOwn(properties, key));
      const missing = required.filter((key) => given[key] === undefined);
      if (unknown.length + missing.length > 0)
        return toolError({
          code: 'INVALID_PARAMETER',
          message: [
            ...unknown.map((key) => `${JSON.stringify(key.slice(0, NAME_LENGTH_MAX))} is no argument of ${name}`),
            ...missing.map((key) => `${key} is required`),
          ].join(', '),
          remedy: `Arguments of ${name}: ${Object.keys(properties).join(', ') || 'none'}.`,
        });
      return tool.call(given, caller);
    },
  };
}

const NAME_LENGTH_MAX = 60;
