import { keysOf } from './key-facts.ts';
import { oneOf } from './values.ts';

const { withDefault } = keysOf('Names');

export const nameKeys = {
  ENS_GATEWAYS: withDefault(oneOf('on', 'off'), {
    description:
      'Whether gateways are queried for off-chain ENS names (CCIP-Read). Contracts define the gateway URLs; only public addresses are reached',
    example: 'on',
    default: 'off',
  }),
};
