import { TextInput } from '@mantine/core'
import { createSpotlight, Spotlight, useSpotlight } from '@mantine/spotlight'
import '@mantine/spotlight/styles.css'
import './palette.css'
import { Search } from 'lucide-react'
import { Fragment, type KeyboardEvent, useEffect, useId, useState } from 'react'
import { useDialogKeys } from '../keys'
import { useText } from '../text'
import { usePaletteRequests } from './openPalette'
import { type Entry, neighbour, selectedKey } from './paletteEntries'
import { usePaletteEntries } from './usePaletteEntries'

const [store, palette] = createSpotlight()

/** Opens pages and runs actions: pages and actions at once, records by the server's search. */
export function Palette() {
  const [query, setQuery] = useState('')
  const requests = usePaletteRequests()
  useDialogKeys(useSpotlight(store).opened)
  useEffect(() => {
    if (requests) palette.open()
  }, [requests])
  return (
    <Spotlight.Root
      store={store}
      query={query}
      onQueryChange={setQuery}
      shortcut={null}
      // While it fades its field would still take every key.
      onSpotlightClose={() => (document.activeElement as HTMLElement | null)?.blur()}
      clearQueryOnClose
    >
      <Finder query={query} onQuery={setQuery} />
    </Spotlight.Root>
  )
}

function Finder({ query, onQuery }: { query: string; onQuery: (text: string) => void }) {
  const t = useText()
  const listId = useId()
  const [chosen, setChosen] = useState<string | null>(null)
  const { entries, isLoading } = usePaletteEntries(query)
  const selected = selectedKey(entries, chosen)
  const run = (entry: Entry | undefined) => {
    if (!entry) return
    palette.close()
    entry.onChoose()
  }
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (!by && event.key !== 'Enter') return
    event.preventDefault()
    if (by) setChosen(neighbour(entries, selected, by))
    else run(entries.find((entry) => entry.key === selected))
  }
  return (
    <>
      <TextInput
        data-autofocus
        role="combobox"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={selected ? optionId(listId, selected) : undefined}
        aria-label={t.searchLong}
        placeholder={t.searchLong}
        className="palette-search"
        size="md"
        variant="unstyled"
        leftSection={<Search size={16} />}
        value={query}
        onChange={(event) => {
          onQuery(event.currentTarget.value)
          setChosen(null)
        }}
        onKeyDown={press}
      />
      <div role="listbox" id={listId} aria-label={t.results} className="palette-list">
        {entries.map((entry, n) => (
          <Fragment key={entry.key}>
            {entry.group === entries[n - 1]?.group ? null : (
              <div className="palette-group" role="presentation">
                {entry.group}
              </div>
            )}
            <Option
              entry={entry}
              id={optionId(listId, entry.key)}
              isSelected={entry.key === selected}
              onChoose={() => run(entry)}
            />
          </Fragment>
        ))}
        {entries.length === 0 ? (
          <div className="palette-empty" role="status">
            {isLoading ? t.searching : t.noResults}
          </div>
        ) : null}
      </div>
    </>
  )
}

function optionId(listId: string, key: string): string {
  return `${listId}${key.replace(/\W+/g, '-')}`
}

interface OptionProps {
  entry: Entry
  id: string
  isSelected: boolean
  onChoose: () => void
}

function Option({ entry, id, isSelected, onChoose }: OptionProps) {
  const Icon = entry.icon
  useEffect(() => {
    if (isSelected) document.getElementById(id)?.scrollIntoView({ block: 'nearest' })
  }, [isSelected, id])
  return (
    // Keys go to the field, which names the selected option.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    <div
      role="option"
      tabIndex={-1}
      id={id}
      aria-selected={isSelected}
      className="palette-option"
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
    >
      <span className="palette-icon">{Icon ? <Icon size={14} /> : null}</span>
      <span className="clip">
        {entry.label}
        {entry.detail ? <span className="palette-detail">{entry.detail}</span> : null}
      </span>
      <span className="palette-kind">{entry.kind}</span>
    </div>
  )
}
