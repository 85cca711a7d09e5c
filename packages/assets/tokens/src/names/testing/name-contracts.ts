import type { Address } from '@chainstead/core';
import { type CompiledContract, compileSolidity, type Devnet } from '@chainstead/testkit';

const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
struct Request { address sender; string[] urls; bytes data; }
interface Gateway { function query(Request[] memory requests) external view returns (bool[] memory, bytes[] memory); }
/// Answers as ENS' Universal Resolver does, by names that a test sets. It believes every reverse record unless a test sets another.
contract Resolver {
  error ResolverNotFound(bytes name);
  error ReverseAddressMismatch(string primary, bytes primaryAddress);
  error HttpError(uint16 status, string message);
  error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData);
  mapping(bytes => bytes) answers;
  mapping(bytes => string) gateways;
  mapping(bytes => string) names;
  bool public isStrict;
  bool public isEndless;
  function setAnswer(bytes calldata name, bytes calldata answer) external { answers[name] = answer; }
  function setGateway(bytes calldata name, string calldata url) external { gateways[name] = url; }
  function setName(bytes calldata account, string calldata name) external { names[account] = name; }
  function setStrict(bool strict) external { isStrict = strict; }
  function setEndless(bool endless) external { isEndless = endless; }
  function resolveWithGateways(bytes calldata name, bytes calldata data, string[] calldata own) external view returns (bytes memory, address) {
    if (bytes(gateways[name]).length > 0) look(name, data, own);
    if (answers[name].length == 0) revert ResolverNotFound(name);
    return (answers[name], address(this));
  }
  function look(bytes memory name, bytes memory data, string[] memory own) private view {
    Request[] memory requests = new Request[](1);
    string[] memory urls = new string[](1);
    urls[0] = gateways[name];
    requests[0] = Request(address(this), urls, data);
    revert OffchainLookup(address(this), own, abi.encodeCall(Gateway.query, (requests)), this.callback.selector, abi.encode(name, own));
  }
  function callback(bytes calldata response, bytes calldata extra) external view returns (bytes memory, address) {
    if (isEndless) { (bytes memory name, string[] memory own) = abi.decode(extra, (bytes, string[])); look(name, "", own); }
    (bool[] memory failures, bytes[] memory responses) = abi.decode(response, (bool[], bytes[]));
    if (failures[0]) revert HttpError(500, "gateway");
    return (responses[0], address(this));
  }
  function reverseWithGateways(bytes calldata account, uint256, string[] calldata) external view returns (string memory, address, address) {
    if (isStrict) revert ReverseAddressMismatch(names[account], account);
    return (names[account], address(this), address(this));
  }
}
contract Registry {
  mapping(uint256 => mapping(string => string)) records;
  mapping(address => string) names;
  function setRecord(uint256 id, string calldata key, string calldata value) external { records[id][key] = value; }
  function setName(address owner, string calldata name) external { names[owner] = name; }
  function getMany(string[] calldata keys, uint256 id) external view returns (string[] memory values) {
    values = new string[](keys.length);
    for (uint256 i = 0; i < keys.length; i++) values[i] = records[id][keys[i]];
  }
  function reverseNameOf(address owner) external view returns (string memory) { return names[owner]; }
}
`;

/** A deployed contract. */
export interface NameContract {
  readonly address: Address;
  readonly code: CompiledContract;
}

export async function deployNameContract(devnet: Devnet, name: 'Resolver' | 'Registry'): Promise<NameContract> {
  const code = (await compileSolidity({ 'Names.sol': SOURCE })).get(name);
  if (code === undefined) throw new Error(`${name} was not compiled`);
  return { address: await devnet.deploy(code), code };
}
