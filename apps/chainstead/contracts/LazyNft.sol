// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

/// Its ids belong to their creator from the beginning, without a Transfer: the first one is that to a buyer.
contract LazyNft is ERC721 {
    uint256 public constant COUNT = 60;
    address private immutable _creator;
    mapping(uint256 => bool) private _hasMoved;

    constructor(address creator) ERC721("Lazy Pictures", "LAZY") {
        _creator = creator;
    }

    function burn(uint256 tokenId) external {
        _update(address(0), tokenId, msg.sender);
    }

    function tokenURI(uint256 tokenId) public view override returns (string memory) {
        _requireOwned(tokenId);
        return 'data:application/json;utf8,{"name":"Lazy Picture"}';
    }

    function _ownerOf(uint256 tokenId) internal view override returns (address) {
        address owner = super._ownerOf(tokenId);
        return owner == address(0) && tokenId < COUNT && !_hasMoved[tokenId] ? _creator : owner;
    }

    function _update(address to, uint256 tokenId, address auth) internal override returns (address from) {
        from = super._update(to, tokenId, auth);
        _hasMoved[tokenId] = true;
    }
}
