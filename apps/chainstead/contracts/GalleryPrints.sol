// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";
import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// An ERC-1155 whose documents are plain (not base64) `data:` documents.
contract GalleryPrints is ERC1155 {
    string public constant name = "Gallery Prints";
    string public constant symbol = "GPRINT";

    constructor() ERC1155("") {}

    function mint(address to, uint256 id, uint256 amount) external {
        _mint(to, id, amount, "");
    }

    function mintBatch(address to, uint256[] calldata ids, uint256[] calldata amounts) external {
        _mintBatch(to, ids, amounts, "");
    }

    function burn(uint256 id, uint256 amount) external {
        _burn(msg.sender, id, amount);
    }

    function contractURI() external pure returns (string memory) {
        return 'data:application/json;utf8,{"name":"Gallery Prints","symbol":"GPRINT","image":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAABAAAAAQAgMAAABinRfyAAAACVBMVEUoHhk0VozW4vD2+2/cAAAAM0lEQVR42mNYBQQMS0NDoxiWrVo1i2GZFogAs1aAiAVaQKKBA0gwMEgxLAERYMVgbVgIAEmIImFtOetDAAAAAElFTkSuQmCC"}';
    }

    function uri(uint256 id) public pure override returns (string memory) {
        return string.concat('data:application/json;utf8,{"name":"Gallery Print ', Strings.toString(id), '"}');
    }
}
