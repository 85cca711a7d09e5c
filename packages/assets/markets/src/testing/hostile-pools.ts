import { type Address, parseAddress, parseHash } from '@chainstead/core';
import { type CompiledContract, compileSolidity, type Devnet } from '@chainstead/testkit';
import type { EventLog } from '../events/pool-event.ts';

const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;
contract FakePair {
  address public factory; address public token0; address public token1;
  uint24 public fee = 3000; int24 public tickSpacing = 60;
  event Sync(uint112 reserve0, uint112 reserve1);
  event Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to);
  constructor(address factory_, address token0_, address token1_) { factory = factory_; token0 = token0_; token1 = token1_; }
  function trade(uint256 amount0In, uint256 amount1Out) external {
    emit Sync(uint112(amount0In), uint112(amount1Out));
    emit Swap(msg.sender, amount0In, 0, 0, amount1Out, msg.sender);
  }
}
contract RevertingPool { fallback() external { revert("no"); } }
contract BurningPool { fallback() external { assembly { invalid() } } }
contract LateBurningPool {
  address public factory;
  constructor(address factory_) { factory = factory_; }
  fallback() external { assembly { invalid() } }
}
contract GarbagePool { fallback() external { assembly {
  for { let at := 0 } lt(at, 65536) { at := add(at, 32) } { mstore(at, not(at)) }
  return(0, 65536)
} } }
contract CustomFactory {
  event CustomPool(address indexed deployer, address indexed token0, address indexed token1, address pool);
  function poolByPair(address, address) external pure returns (address) { return address(0); }
  function announce(address token0, address token1, address pool) external { emit CustomPool(msg.sender, token0, token1, pool); }
}
contract KeyBook {
  struct Key { address currency0; address currency1; uint24 fee; int24 tickSpacing; address hooks; }
  mapping(bytes25 => Key) public poolKeys;
  function put(bytes25 id, Key calldata key) external { poolKeys[id] = key; }
}
`;

/** Contracts that look like pools, and one that returns keys as the position manager of Uniswap v4 does. */
export interface HostilePools {
  /** Perfect events, and getters that name a real factory and real tokens. */
  fakePair(factory: Address, tokens: readonly [Address, Address]): Promise<Address>;
  /** Logs of a fake pair: a `Sync` and a `Swap` of any amounts. */
  trade(fakePair: Address): Promise<readonly EventLog[]>;
  readonly reverting: Address;
  readonly burning: Address;
  /** Burns all gas once its factory is known. */
  lateBurning(factory: Address): Promise<Address>;
  /** Returns 64 KiB to every call. */
  readonly garbage: Address;
  readonly keyBook: Deployed;
  /** Factory of Algebra Integral with custom pools only, which `announce` emits events of. */
  readonly customFactory: Deployed;
}

interface Deployed {
  readonly address: Address;
  readonly abi: CompiledContract['abi'];
}

/** Deploys them. */
export async function deployHostilePools(devnet: Devnet): Promise<HostilePools> {
  const contracts = await compileSolidity({ 'HostilePools.sol': SOURCE });
  const compiled = (name: string): CompiledContract => {
    const found = contracts.get(name);
    if (found === undefined) throw new Error(`${name} was not compiled`);
    return found;
  };
  const deploy = async (name: string, ...args: unknown[]) =>
    parseAddress(await devnet.deploy(compiled(name), args));
  return {
    fakePair: (factory, tokens) => deploy('FakePair', factory, ...tokens),
    async trade(address) {
      const args = [10n ** 21n, 10n ** 18n];
      const { logs } = await devnet.send({ address, abi: compiled('FakePair').abi, functionName: 'trade', args });
      return logs.map((log) => ({ address, topics: log.topics.map(parseHash), data: log.data }));
    },
    lateBurning: (factory) => deploy('LateBurningPool', factory),
    reverting: await deploy('RevertingPool'),
    burning: await deploy('BurningPool'),
    garbage: await deploy('GarbagePool'),
    keyBook: { address: await deploy('KeyBook'), abi: compiled('KeyBook').abi },
    customFactory: { address: await deploy('CustomFactory'), abi: compiled('CustomFactory').abi },
  };
}
