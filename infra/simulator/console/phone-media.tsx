import type { ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import { Icon } from './icons.tsx';
import { now } from './live.ts';
import { KnownThings } from './phone-context.ts';
import type { HeaderView, OfferView, TileView } from './phone-view.ts';
import { useStore } from './store.ts';
import { counted, timeLeft } from './texts.ts';

/* Product pictures and maps in a message's header are drawn; nothing is fetched. */

export function Header({ header }: { readonly header: HeaderView }) {
  if (header.kind === 'text') {
    return (
      <p class="bubble-header" dir="auto">
        {header.text}
      </p>
    );
  }
  if (header.kind === 'location') return <Place place={header} />;
  if (header.kind === 'product') return <Product id={header.product} />;
  if (header.format === 'document') return <Document document={header} />;
  return <Picture medium={header} />;
}

type Medium = Extract<HeaderView, { kind: 'media' }>;

/** Shows only media uploaded to the simulator; a link is never fetched. */
function Picture({ medium: { format, mediaId, link, name } }: { readonly medium: Medium }) {
  const { seconds } = useContext(KnownThings).media[mediaId] ?? {};
  return (
    <div class={`media ${format}`} title={link || mediaId}>
      {format === 'image' ? <Icon name="image" /> : <PlaySign />}
      <p class="media-name">{name || format.charAt(0).toUpperCase() + format.slice(1)}</p>
      {seconds === undefined ? null : <p class="media-length">{lengthOf(seconds)}</p>}
      {format === 'image' && /^\d+$/.test(mediaId) ? (
        <img
          src={`/console/media/${mediaId}`}
          alt="Header of the message"
          onError={({ currentTarget }) => {
            currentTarget.hidden = true;
          }}
        />
      ) : null}
    </div>
  );
}

function PlaySign() {
  return (
    <span class="play-sign">
      <Icon name="play" />
    </span>
  );
}

/** Returns `1:05` for 65 seconds. */
function lengthOf(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

function Document({ document: { mediaId, link, name } }: { readonly document: Medium }) {
  const { pages, kind } = useContext(KnownThings).media[mediaId] ?? {};
  const file = name || lastPartOf(link);
  const ending = /\.([a-z0-9]{1,5})$/i.exec(file)?.[1];
  const facts = [
    pages === undefined ? '' : counted(pages, 'page'),
    (ending ?? kind ?? (link || mediaId ? '' : 'PDF')).toUpperCase(),
  ];
  return (
    <div class="document" title={link || mediaId}>
      <Icon name="document" />
      <div>
        <p class="media-name">{file || 'Document'}</p>
        <p class="media-note">{facts.filter(Boolean).join(' · ')}</p>
      </div>
    </div>
  );
}

function lastPartOf(link: string): string {
  const part = URL.parse(link)?.pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function Place({ place }: { readonly place: Extract<HeaderView, { kind: 'location' }> }) {
  return (
    <div class="place" title={place.at}>
      <svg class="map" viewBox="0 0 320 130" preserveAspectRatio="xMidYMid slice" aria-hidden="true" focusable="false">
        <path class="map-water" d="M0 96c60-14 90 14 150 4s110-30 170-14v44H0z" />
        <path class="map-park" d="M196 0h74v46h-74z" />
        <path class="map-road" d="M0 34h320M0 74h320M58 0v130M124 0v130M184 0v88M286 0v130M0 118L140 0" />
        <path class="map-pin" d="M160 78s22-19 22-36a22 22 0 0 0-44 0c0 17 22 36 22 36z" />
        <circle class="map-eye" cx="160" cy="42" r="8" />
      </svg>
      <div class="place-words">
        <p class="media-name">{place.name || 'A place'}</p>
        <p class="media-note">{place.address || place.at || 'Chosen when it is sent'}</p>
      </div>
    </div>
  );
}

function Product({ id }: { readonly id: string }) {
  const { name, price } = useContext(KnownThings).products[id] ?? {};
  return (
    <div class="product" title={id}>
      <ProductPicture id={id} />
      <div class="product-words">
        <p class="media-name">{name || id || 'A product'}</p>
        <p class="media-note">{price || (id === '' ? 'Chosen when it is sent' : '')}</p>
      </div>
    </div>
  );
}

/** Draws a picture with a colour derived from the product. */
export function ProductPicture({ id }: { readonly id: string }) {
  const colour = [...id].reduce((sum, character) => (sum * 31 + (character.codePointAt(0) ?? 0)) % 5, 0);
  return (
    <span class={`product-picture colour-${colour}`}>
      <svg viewBox="0 0 48 48" aria-hidden="true" focusable="false">
        <path class="goods" d="M12 17h24l3 23H9z" />
        <path class="handle" d="M17 21v-6a7 7 0 0 1 14 0v6" />
      </svg>
    </span>
  );
}

/** Shows a product picture with a few words, above the text. */
export function Tile({ tile }: { readonly tile: TileView }) {
  const { name, price } = useContext(KnownThings).products[tile.product] ?? {};
  const isCatalog = tile.kind === 'catalog';
  const title = isCatalog ? name || tile.product || 'Catalog' : counted(tile.items, 'item');
  const note = isCatalog ? price || 'Pictures and prices of what is for sale' : name || tile.product;
  return (
    <div class="tile">
      <ProductPicture id={tile.product} />
      <div>
        <p class="media-name">{tile.kind === 'items' && tile.items === 0 ? 'Items' : title}</p>
        <p class="media-note">{note || 'Chosen when it is sent'}</p>
      </div>
    </div>
  );
}

export function Offer({ offer }: { readonly offer: OfferView }) {
  return (
    <div class="offer">
      <Icon name="gift" />
      <div>
        <p class="media-name" dir="auto">
          {offer.text || 'Limited offer'}
        </p>
        {offer.endsMs === undefined ? null : <TimeLeft endsMs={offer.endsMs} />}
        {offer.code === '' ? null : (
          <p class="media-note">
            Code <b>{offer.code}</b>
          </p>
        )}
      </div>
    </div>
  );
}

/** The simulator's clock keeps it current. */
function TimeLeft({ endsMs }: { readonly endsMs: number }): ComponentChildren {
  const nowMs = useStore(now);
  return <p class={endsMs <= nowMs ? 'media-note over' : 'media-note'}>{timeLeft(endsMs, nowMs)}</p>;
}
