// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// An NFT whose Transfer does not index the token id, so that its event has the shape of ERC-20's. ERC-165 tells it apart.
contract ThreeTopicNft {
    event Transfer(address indexed from, address indexed to, uint256 tokenId);

    string public constant name = "Three Topic Cats";
    string public constant symbol = "3CAT";
    mapping(uint256 => address) public ownerOf;

    function supportsInterface(bytes4 interfaceId) external pure returns (bool) {
        return interfaceId == 0x01ffc9a7 || interfaceId == 0x80ac58cd;
    }

    function mint(address to, uint256 tokenId) external {
        require(ownerOf[tokenId] == address(0), "minted already");
        ownerOf[tokenId] = to;
        emit Transfer(address(0), to, tokenId);
    }

    function transferFrom(address from, address to, uint256 tokenId) external {
        require(ownerOf[tokenId] == from, "not the owner");
        ownerOf[tokenId] = to;
        emit Transfer(from, to, tokenId);
    }
}
