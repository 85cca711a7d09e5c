import type { Address } from '@chainstead/core';
import { type CompiledContract, compileSolidity, type Devnet } from '@chainstead/testkit';

const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Keeper {
  uint256 public value;
  function put(uint256 next) external { value = next; }
  function pay(address payable to) external payable { to.transfer(msg.value); }
  function refuse() external pure returns (uint256) { revert("no"); }
  function burn() external pure returns (uint256) { assembly { invalid() } }
}
contract Multicall3 {
  struct Call3 { address target; bool allowFailure; bytes callData; }
  struct Result { bool success; bytes returnData; }
  function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory returnData) {
    returnData = new Result[](calls.length);
    for (uint256 i = 0; i < calls.length; i++)
      (returnData[i].success, returnData[i].returnData) = calls[i].target.call(calls[i].callData);
  }
}
`;

/** A contract that keeps a number, pays, reverts and burns all gas. */
export interface Keeper {
  readonly address: Address;
  readonly code: CompiledContract;
}

export async function deployKeeper(devnet: Devnet): Promise<Keeper> {
  const code = await compiled('Keeper');
  return { address: await devnet.deploy(code), code };
}

/** At a separate address: a devnet has none at the usual one. */
export async function deployMulticall(devnet: Devnet): Promise<Address> {
  return devnet.deploy(await compiled('Multicall3'));
}

async function compiled(name: string): Promise<CompiledContract> {
  const code = (await compileSolidity({ 'Example.sol': SOURCE })).get(name);
  if (code === undefined) throw new Error(`${name} was not compiled`);
  return code;
}
