import { type CompiledContract, compileSolidity } from '@chainstead/testkit';
import { parseAbi } from 'viem';

/** The functions of the test tokens. */
export const STORAGE_TOKEN_ABI = parseAbi([
  'function balanceOf(address) view returns (uint256)',
  'function mint(address to, uint256 value)',
  'function rebase(uint256 percent)',
  'function freeze(address holder)',
]);

const HEAD = `// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

abstract contract Emitter {
    event Transfer(address indexed from, address indexed to, uint256 value);
}
`;

/** A token that stores balances at `place`. */
const assembled = (name: string, place: string): string => `
contract ${name} is Emitter {
    function at(address holder) private pure returns (bytes32 slot) {
        assembly { ${place} }
    }
    function balanceOf(address holder) external view returns (uint256 value) {
        bytes32 slot = at(holder);
        assembly { value := sload(slot) }
    }
    function mint(address to, uint256 value) external {
        bytes32 slot = at(to);
        assembly { sstore(slot, add(sload(slot), value)) }
        emit Transfer(address(0), to, value);
    }
}
`;

const SOURCE = `${HEAD}
contract DeepToken is Emitter {
    uint256[77] private gap;
    mapping(address => uint256) public balanceOf;
    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }
}
${assembled('VyperToken', 'mstore(0x00, 3) mstore(0x20, holder) slot := keccak256(0x00, 0x40)')}
${assembled(
  'NamespacedToken',
  'mstore(0x00, holder) mstore(0x20, 0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00) slot := keccak256(0x00, 0x40)',
)}
${assembled('SoladyToken', 'mstore(0x0c, 0x87a211a2) mstore(0x00, holder) slot := keccak256(0x0c, 0x20)')}
${assembled('HiddenToken', 'mstore(0x00, holder) mstore(0x20, 123456789) slot := keccak256(0x00, 0x40)')}
contract RebasingToken is Emitter {
    mapping(address => uint256) private shares;
    uint256 private factor = 100;
    function balanceOf(address holder) external view returns (uint256) {
        return shares[holder] * factor / 100;
    }
    function rebase(uint256 percent) external {
        factor = percent;
    }
    function mint(address to, uint256 value) external {
        shares[to] += value;
        emit Transfer(address(0), to, value);
    }
}
contract FreezingToken is Emitter {
    mapping(address => uint256) private held;
    function balanceOf(address holder) external view returns (uint256) {
        return held[holder] & (type(uint256).max >> 1);
    }
    function freeze(address holder) external {
        held[holder] |= 1 << 255;
    }
    function mint(address to, uint256 value) external {
        held[to] += value;
        emit Transfer(address(0), to, value);
    }
}
`;

const NAMES = [
  'DeepToken',
  'VyperToken',
  'NamespacedToken',
  'SoladyToken',
  'HiddenToken',
  'RebasingToken',
  'FreezingToken',
] as const;

export type StorageTokenName = (typeof NAMES)[number];

/** Tokens by storage location: slot 77, Vyper's, OpenZeppelin's namespace, Solady's, an unknown one. */
export async function compileStorageTokens(): Promise<ReadonlyMap<StorageTokenName, CompiledContract>> {
  const compiled = await compileSolidity({ 'StorageTokens.sol': SOURCE });
  return new Map(
    NAMES.map((name) => {
      const contract = compiled.get(name);
      if (contract === undefined) throw new Error(`the compiler gave no ${name}`);
      return [name, contract];
    }),
  );
}
