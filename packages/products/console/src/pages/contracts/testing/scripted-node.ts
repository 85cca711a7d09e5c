import type { CallDirectly } from '@chainstead/gateway';
import { contractFunctionRoute } from '@chainstead/gateway/contract-function';
import { createOnDemandBudget, type RouteModule } from '@chainstead/http';
import { type Abi, decodeFunctionData, encodeErrorResult, encodeFunctionResult, type Hex } from 'viem';
import { HOSTILE } from '../../../testing/hostile-texts.ts';
import type { AbiSource } from '../contract-form.ts';
import { OWNER, VAULT, VAULT_ABI } from './seed-contract.ts';

const abi = VAULT_ABI as unknown as Abi;
const REVERTED = 3;

/** The API's route for calls of functions, with a node that has the functions of the vault. */
export function scriptedFunctionRoute(): RouteModule {
  return contractFunctionRoute({ call, budget: createOnDemandBudget({ maxCalls: 100, perKey: 100 }) });
}

const call: CallDirectly = async ({ method, params }) => {
  if (method !== 'eth_call') return { kind: 'result', value: '0x60' };
  const { functionName, args = [] } = decodeFunctionData({ abi, data: dataOf(params) });
  if (functionName === 'refuse') {
    const data = encodeErrorResult({ abi, errorName: 'Refused', args: [HOSTILE[0]] });
    return { kind: 'error', error: { code: REVERTED, message: 'execution reverted', data } };
  }
  const results: Readonly<Record<string, unknown>> = {
    totalAssets: 7n,
    ownerOf: OWNER,
    note: HOSTILE.slice(0, -1).join(' '),
    positions: [[args[0], args[0]], '0x80ac58cd'],
  };
  return { kind: 'result', value: encodeFunctionResult({ abi, functionName, result: results[functionName] }) };
};

function dataOf([given]: readonly unknown[]): Hex {
  const { data }: { data?: Hex } = Object(given);
  return data ?? '0x';
}

/** Knows only the vault. */
export const scriptedSource: AbiSource = {
  host: 'abis.example',
  read: async (_chain, address) => {
    if (address !== VAULT) return { problem: `abis.example returned no ABI: ${HOSTILE[0]}` };
    return { abi: [...VAULT_ABI, { type: 'function', name: 'fromSource', stateMutability: 'pure', inputs: [] }] };
  },
};
