import { describe, expect, test } from 'vitest';
import type { AbiParameter, StreamTrigger } from '../stream.ts';
import { triggerProblems } from './check-stream.ts';

const ADDRESS = `0x${'a'.repeat(40)}`;

/** The problem of one input for a parameter of this type, in a log trigger. */
function problemOf(
  type: string,
  input: string | readonly string[],
  components?: readonly AbiParameter[],
): string | null {
  const trigger: StreamTrigger = {
    type: 'log',
    contractAddress: '$address',
    functionAbi: {
      type: 'function',
      name: 'f',
      stateMutability: 'pure',
      inputs: [{ name: 'x', type, ...(components !== undefined && { components }) }],
    },
    inputs: [input],
  };
  const [problem, ...others] = triggerProblems([trigger]);
  expect(others).toEqual([]);
  if (problem === undefined) return null;
  expect(problem.path).toBe('triggers.0.inputs.0');
  return problem.message;
}

const LITERAL = (type: string): string => `must be a value of type ${type} or a selector`;

describe('an input of a trigger', () => {
  test.each<[type: string, input: string | readonly string[]]>([
    ['uint256', '0'],
    ['uint256', `${2n ** 256n - 1n}`],
    ['uint256', '0xff'],
    ['uint8', '255'],
    ['int8', '-128'],
    ['int256', `${-(2n ** 255n)}`],
    ['uint', '1'],
    ['address', ADDRESS],
    ['address', '$topic1'],
    ['bool', 'true'],
    ['bytes', '0x'],
    ['bytes4', '0x01020304'],
    ['bytes32', '$topic2'],
    ['string', ''],
    ['string', '$data'],
    ['address[]', [ADDRESS, '$address', '$topic3']],
    ['uint256[2]', ['1', '$logIndex']],
    ['string[]', []],
  ])('of type %s may be %j', (type, input) => {
    expect(problemOf(type, input)).toBeNull();
  });

  test.each<[type: string, input: string | readonly string[], message: string]>([
    ['uint256', `${2n ** 256n}`, LITERAL('uint256')],
    ['uint256', '-1', LITERAL('uint256')],
    ['uint8', '256', LITERAL('uint8')],
    ['int8', '128', LITERAL('int8')],
    ['int8', '-129', LITERAL('int8')],
    ['uint256', '', LITERAL('uint256')],
    ['uint256', '1e18', LITERAL('uint256')],
    ['uint256', '9'.repeat(5_000), LITERAL('uint256')],
    ['bool', '1', LITERAL('bool')],
    ['bytes', '0x1', LITERAL('bytes')],
    ['bytes4', '0x0102', LITERAL('bytes4')],
    ['address', '0x12', 'must be an address or a selector of one'],
    ['address', '$data', 'must be a selector of an address of type log: $address, $topic1, $topic2, $topic3'],
    [
      'uint256',
      '$value',
      'must be a selector of a member of type log: $address, $topic1, $topic2, $topic3, $logIndex, $transactionHash, $data, $topic0',
    ],
    ['uint256', ['1'], 'must be one value of type uint256'],
    ['uint256[]', '1', 'must be an array of uint256'],
    ['uint256[2]', ['1'], 'must have 2 items'],
    ['uint256[]', ['1', 'x'], LITERAL('uint256')],
    ['uint256[][]', ['1'], "values of type uint256[][] can't be given"],
  ])('of type %s must not be %j', (type, input, message) => {
    expect(problemOf(type, input)).toBe(message);
  });

  test('can be no tuple', () => {
    const components = [{ name: 'a', type: 'uint256' }];
    expect(problemOf('tuple', '1', components)).toBe("values of type tuple can't be given");
    expect(problemOf('tuple[]', ['1'], components)).toBe("values of type tuple[] can't be given");
  });
});

test('an old ABI says constant instead of view', () => {
  const trigger: StreamTrigger = {
    type: 'tx',
    contractAddress: ADDRESS,
    callFrom: '$fromAddress',
    functionAbi: { type: 'function', name: 'f', constant: true, payable: false },
  };
  expect(triggerProblems([trigger])).toEqual([]);
});

test('each trigger is told by its own index', () => {
  const good: StreamTrigger = {
    type: 'tx',
    contractAddress: ADDRESS,
    functionAbi: { type: 'function', name: 'f', stateMutability: 'view' },
  };
  const problems = triggerProblems([good, { ...good, contractAddress: 'x' }, { ...good, inputs: ['1'] }]);
  expect(problems.map(({ path }) => path)).toEqual(['triggers.1.contractAddress', 'triggers.2.inputs']);
});
