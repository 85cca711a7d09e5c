// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721Consecutive} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721Consecutive.sol";

/// An ERC-721 whose tokens all come from one ConsecutiveTransfer (ERC-2309) in its creation. It has no documents.
contract GalleryFounders is ERC721Consecutive {
    constructor(address to, uint96 count) ERC721("Gallery Founders", "GFOUND") {
        _mintConsecutive(to, count);
    }
}
