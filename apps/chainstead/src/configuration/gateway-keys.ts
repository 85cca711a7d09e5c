import { METHOD_NAMES, UNLISTED } from '@chainstead/gateway/method-table';
import { z } from 'zod';
import { keysOf } from './key-facts.ts';
import { chainName, listOf, oneOf, plainText, wholeNumber } from './values.ts';

const { optional, withDefault } = keysOf('Gateway');

const METHOD_LIMIT = /^([A-Za-z_0-9]+\*?)=(\d{1,7})$/;

const methodLimit: z.ZodType<readonly [method: string, calls: number], string> = plainText
  .refine((text) => METHOD_LIMIT.test(text), 'is not method=calls')
  .refine(
    (text) => [...METHOD_NAMES, UNLISTED].includes(text.split('=')[0] ?? ''),
    'contains a method that the gateway does not offer',
  )
  .transform((text): readonly [string, number] => {
    const [, method = '', calls] = METHOD_LIMIT.exec(text) ?? [];
    return [method, Number(calls)];
  })
  .refine(([, calls]) => calls > 0, 'has a limit of 0 calls');

const chainSelection: z.ZodType<'all' | readonly string[], string> = plainText.pipe(
  z.union([z.literal('all'), listOf(chainName)]),
);

export const gatewayKeys = {
  GATEWAY_CHAINS: optional(chainSelection, {
    description: 'Chains that the JSON-RPC gateway serves, indexed or not',
    allowed: 'all (every known chain), or a comma list of chain names',
    example: 'eth,base',
    whenAbsent: 'the chains in CHAINS',
  }),
  GATEWAY_RATE_LIMIT: optional(wholeNumber(0, 1_000_000), {
    description:
      'Units per second per key for JSON-RPC calls, over the last four seconds and across all processes. A cheap call costs one unit, a heavy call up to five, a trace twenty. 0 means no limit',
    example: '100',
    whenAbsent: 'RATE_LIMIT, with one unit per call',
  }),
  GATEWAY_METHOD_LIMITS: optional(listOf(methodLimit), {
    description:
      'JSON-RPC calls per second per key and method, over the last four seconds and across all processes',
    allowed: 'a comma list of method=calls',
    example: 'eth_getLogs=10,eth_call=50',
    whenAbsent: 'no limit per method',
  }),
  GATEWAY_TRACES: withDefault(oneOf('on', 'off'), {
    description:
      'Whether debug_trace… and trace_… methods are available. They make nodes execute transactions again. A call costs 20 units',
    example: 'on',
    default: 'off',
  }),
};
