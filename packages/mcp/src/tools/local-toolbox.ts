import { toolError } from '../results/tool-error.ts';
import type { Tool, Toolbox } from './tool.ts';

/** Returns a toolbox of tools in this process. Their arguments are checked by name here, and by value in each tool. */
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
      // Many clients send null, and some an empty text, for each argument that the agent left out.
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
