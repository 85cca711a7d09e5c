// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {Base64} from "@openzeppelin/contracts/utils/Base64.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// An ERC-721 that describes itself in `data:` documents (ERC-7572, base64), so that reading them needs no network.
contract GalleryCats is ERC721 {
    event ContractURIUpdated();
    event MetadataUpdate(uint256 tokenId);

    string private _twitter = "gallerycats";
    mapping(uint256 => string) private _moods;

    constructor() ERC721("Gallery Cats", "GCAT") {}

    function supportsInterface(bytes4 interfaceId) public view override returns (bool) {
        return interfaceId == 0x49064906 || super.supportsInterface(interfaceId); // ERC-4906
    }

    function mint(address to, uint256 tokenId) external {
        _mint(to, tokenId);
    }

    function burn(uint256 tokenId) external {
        _update(address(0), tokenId, msg.sender);
    }

    function rename(string calldata twitter) external {
        _twitter = twitter;
        emit ContractURIUpdated();
    }

    function setMood(uint256 tokenId, string calldata mood) external {
        _moods[tokenId] = mood;
        emit MetadataUpdate(tokenId);
    }

    function contractURI() external view returns (string memory) {
        return _document(
            string.concat(
                '{"name":"Gallery Cats","symbol":"GCAT","description":"Cats of the local chain.",',
                '"image":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAABAAAAAQAgMAAABinRfyAAAACVBMVEUoHhnEYh72yIJJrNt0AAAAQElEQVR42i3MsQ3AIAADwV8CJsMUjJB5gIKeSPGUEIGLK74w3mPYL93uNDvTpEsNKR5OS+FSpd0gM6XCJz38Vwu0FRvWr1pulgAAAABJRU5ErkJggg==","banner_image":"https://cats.example/banner.png",',
                '"category":"pfps","external_link":"https://cats.example","wiki_url":"https://wiki.example/cats",',
                '"discord_url":"https://discord.gg/cats","telegram_url":"https://t.me/cats",',
                '"twitter_username":"', _twitter, '","instagram_username":"gallerycats.insta"}'
            )
        );
    }

    function tokenURI(uint256 tokenId) public view override returns (string memory) {
        _requireOwned(tokenId);
        return _document(
            string.concat(
                '{"name":"Gallery Cat #', Strings.toString(tokenId), '","attributes":[{"trait_type":"Mood","value":"',
                _moods[tokenId], '"}]}'
            )
        );
    }

    function _document(string memory json) private pure returns (string memory) {
        return string.concat("data:application/json;base64,", Base64.encode(bytes(json)));
    }
}
