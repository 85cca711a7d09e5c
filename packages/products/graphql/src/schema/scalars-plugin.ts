import 'graphile-build-pg';
import { CHAIN_ALLOWED, type ChainLookup } from '@chainstead/http';
import { GraphQLError, Kind, type ValueNode } from 'graphql/index.js';

export const scalarsPlugin = (chains: ChainLookup): GraphileConfig.Plugin => ({
  name: 'ScalarsPlugin',
  version: '1.0.0',
  schema: {
    hooks: {
      init(value, build) {
        build.registerScalarType(
          'Chain',
          {},
          () => ({
            description:
              'A chain by name, such as eth, or by decimal or hexadecimal id. The values are those of all routes.',
            ...parsing((text) => {
              const id = chains.find(text)?.id;
              if (id !== undefined) return String(id);
              throw new GraphQLError(`${shown(text)} is no chain: chain must be ${CHAIN_ALLOWED}`);
            }),
          }),
          'Chain of rows',
        );
        return value;
      },
      GraphQLScalarType(scalar) {
        if (scalar.name === 'Bytes')
          return {
            ...scalar,
            description: 'Bytes as `0x` and hexadecimal digits.',
            // Digits are written later, so that an alias costs no memory before.
            serialize: (value: unknown) => (Buffer.isBuffer(value) ? value : refuseValue('Bytes', value)),
            ...parsing((text) =>
              BYTES.test(text) ? Buffer.from(text.slice(2), 'hex') : refuseValue('Bytes', text),
            ),
          };
        if (scalar.name === 'BigInt')
          return {
            ...scalar,
            description: 'A whole number, as text with its digits.',
            ...parsing((text) => (WHOLE.test(text) ? text : refuseValue('BigInt', text))),
          };
        if (scalar.name === 'BigFloat')
          return {
            ...scalar,
            description: 'A decimal number of any size, as text with its digits.',
            ...parsing((text) => (DECIMAL.test(text) ? text : refuseValue('BigFloat', text))),
          };
        return scalar;
      },
    },
  },
});

const BYTES = /^0x(?:[0-9a-fA-F]{2}){0,1024}$/;
const WHOLE = /^-?\d{1,19}$/;
const DECIMAL = /^-?\d{1,80}(?:\.\d{1,80})?$/;

function parsing<T>(parse: (text: string) => T) {
  return {
    parseValue: (value: unknown): T =>
      parse(typeof value === 'string' || Number.isSafeInteger(value) ? String(value) : ''),
    parseLiteral: (node: ValueNode): T =>
      parse(node.kind === Kind.STRING || node.kind === Kind.INT ? node.value : ''),
  };
}

const SHOWN_MAX = 80;

function refuseValue(type: string, value: unknown): never {
  throw new GraphQLError(`${shown(value)} is no value of ${type}`);
}

function shown(value: unknown): string {
  return JSON.stringify(String(value).slice(0, SHOWN_MAX));
}
