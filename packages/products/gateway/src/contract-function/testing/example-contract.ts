import { type CompiledContract, compileSolidity } from '@chainstead/testkit';

const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
contract Example {
  struct Point { uint128 x; int64 y; }
  struct Shape { string name; Point[] points; bytes4 tag; }
  error Refused(address who, uint256 wanted, string why);
  uint256 public value = 7;
  function name() external pure returns (string memory) { return "Wrapped Ether"; }
  function isOpen() external pure returns (bool) { return true; }
  function owner() external pure returns (address) { return 0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045; }
  function several(uint256 given) external pure returns (uint256 amount, bool isForSale, address, bytes memory data) {
    return (given, true, 0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045, hex"1234");
  }
  function shape(Shape calldata given) external pure returns (Shape memory) { return given; }
  function lists(uint8[] calldata some, int16[2][] calldata pairs) external pure returns (uint8[] memory, int16[2][] memory) {
    return (some, pairs);
  }
  function plus(uint256, int8 more) external pure returns (int256) { return more; }
  function send(address to, uint256 amount) external pure returns (uint256) { return to == address(0) ? 0 : amount; }
  function send(address to, bytes calldata data) external pure returns (uint256) { return to == address(0) ? 0 : data.length; }
  function put(uint256 next) external { value = next; }
  function fail(string calldata why) external pure { require(false, why); }
  function refuse(uint256 wanted) external pure { revert Refused(address(0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045), wanted, "no \\"more\\""); }
  function add(uint8 given) external pure returns (uint8) { return given + 255; }
  function silent() external pure { revert(); }
  function burn() external pure returns (uint256) { assembly { invalid() } }
  function text(uint256 length) external pure returns (string memory) { return string(new bytes(length)); }
}
`;

/** A contract with a function of each kind. */
export async function compileExample(): Promise<CompiledContract> {
  const code = (await compileSolidity({ 'Example.sol': SOURCE })).get('Example');
  if (code === undefined) throw new Error('The example was not compiled');
  return code;
}
