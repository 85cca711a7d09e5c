// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {IERC721} from "@openzeppelin/contracts/token/ERC721/IERC721.sol";

/// What aggregators do: it buys at a marketplace in its own name, and passes the NFT on to whoever asked.
contract DemoRouter {
    error PurchaseFailed(bytes reason);

    function buy(address marketplace, bytes calldata order, address nft, uint256 tokenId) external payable {
        (bool bought, bytes memory reason) = marketplace.call{value: msg.value}(order);
        if (!bought) revert PurchaseFailed(reason);
        IERC721(nft).transferFrom(address(this), msg.sender, tokenId);
    }
}
