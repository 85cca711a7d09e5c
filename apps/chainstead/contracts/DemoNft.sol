// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

/// An ordinary ERC-721: its Transfer has four topics.
contract DemoNft is ERC721 {
    constructor() ERC721("Demo Cats", "DCAT") {}

    function mint(address to, uint256 tokenId) external {
        _mint(to, tokenId);
    }
}
