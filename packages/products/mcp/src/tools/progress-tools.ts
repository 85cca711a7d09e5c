import { z } from 'zod';
import { fitValue, type ToolResult, toolError, toolResult } from '../results/tool-result.ts';
import type { Tool } from './tool.ts';

export interface Progress {
  status(): Promise<readonly ChainFacts[]>;
  gaps(): Promise<readonly ChainFacts[]>;
}

interface ChainFacts extends Readonly<Record<string, unknown>> {
  readonly chain: string;
}

const argumentShape = z.object({ chain: z.string().max(100).optional() });

export function progressTools(progress: Progress): Tool[] {
  return [
    progressTool(
      'status',
      'Chains of this server: head, indexed blocks and lag. Call it first to see which data exists.',
      () => progress.status(),
    ),
    progressTool(
      'gaps',
      'Block ranges that are missing or indexed, by chain and dataset, with their proof level. Use it if a result is incomplete.',
      () => progress.gaps(),
    ),
  ];
}

function progressTool(name: string, description: string, read: () => Promise<readonly ChainFacts[]>): Tool {
  return {
    name,
    description,
    inputSchema: {
      type: 'object',
      properties: { chain: { type: 'string', description: 'Name of one chain, such as eth. Default: all.' } },
      required: [],
      additionalProperties: false,
    },
    async call(given) {
      const parsed = argumentShape.safeParse(given);
      if (!parsed.success) return badChain('chain must be a text of at most 100 characters');
      const { chain } = parsed.data;
      const all = await read();
      const chosen = chain === undefined ? all : all.filter((facts) => facts.chain === chain);
      if (chosen.length === 0 && chain !== undefined) {
        const known = all.map((facts) => facts.chain).join(', ') || 'none';
        return badChain(
          `chain must be a chain with rows on this server (${known}), ${JSON.stringify(chain)} was given`,
        );
      }
      return show(chosen);
    },
  };
}

function badChain(message: string): ToolResult {
  return toolError({ code: 'INVALID_PARAMETER', message, remedy: 'Use one of these names, or omit chain.' });
}

function show(chains: readonly ChainFacts[]): ToolResult {
  if (chains.length === 0) return toolResult('No chain has been indexed yet.', [], []);
  const names = chains.map((facts) => facts.chain).join(', ');
  const { value, note } = fitValue(chains);
  return toolResult(`Chains: ${names}.`, note === null ? [] : [`${note} Name one chain in \`chain\`.`], value);
}

const rangeShape = z.looseObject({
  indexed_to: z.number().nullish(),
  head: z.number().nullish(),
  history_from: z.number().nullish(),
  missing_ranges: z.number().nullish(),
});

const CHAINS_MAX = 5;

export async function progressWords(progress: Progress, chain: string | undefined): Promise<string> {
  const all = await progress.status();
  const named = all.filter((facts) => facts.chain === chain);
  const ranges = (named.length > 0 ? named : all).slice(0, CHAINS_MAX).map((facts) => {
    const { indexed_to: to, head, history_from: from, missing_ranges: gaps } = rangeShape.parse(facts);
    if (to === null || to === undefined) return `no block of ${facts.chain}`;
    return `${facts.chain} ${from ?? '?'} to ${to} (head ${head ?? 'unknown'}, ${gaps ?? 0} missing ranges)`;
  });
  return `Coverage: this result does not report its own blocks. Indexed: ${ranges.join('; ') || 'nothing yet'}.`;
}
