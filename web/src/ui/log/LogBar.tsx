import {
  ActionIcon,
  Badge,
  Button,
  CloseButton,
  Group,
  Switch,
  Text,
  TextInput,
  Tooltip,
} from '@mantine/core'
import { Clock, Download, Search, WrapText } from 'lucide-react'
import { lazy, type RefObject, Suspense, useRef, useSyncExternalStore } from 'react'
import { bytes } from '../../lib/format'
import type { LogStore } from './data/logStore'
import type { LogSearch, Step } from './search/useLogSearch'
import { useLogText } from './text'

interface Props extends LogSearch {
  isWaiting?: boolean
  onNeedle: (text: string) => void
  field: RefObject<HTMLInputElement | null>
  wrap: boolean
  onWrap: (wrap: boolean) => void
  isTimed: boolean
  onTimed: (isTimed: boolean) => void
  isFollowing: boolean
  onFollow: (isFollowing: boolean) => void
  rawUrl: string
  filename: string
  /** More controls of the page: which attempt. */
  children?: React.ReactNode
}

// Most logs are only read: the search is loaded with the first letter.
const SearchHits = lazy(() =>
  import('./search/SearchHits').then((module) => ({ default: module.SearchHits })),
)

export function LogBar(props: Props) {
  const t = useLogText()
  const { store, wrap, isTimed, isFollowing } = props
  return (
    <div className="log-bar">
      <Mark store={store} isWaiting={props.isWaiting} />
      {props.children}
      <Finder {...props} />
      <Group gap={8} wrap="nowrap" className="log-tools">
        {store.status === 'ended' ? null : (
          <Switch
            size="xs"
            label={t.follow}
            checked={isFollowing}
            onChange={(event) => props.onFollow(event.currentTarget.checked)}
          />
        )}
        <Tooltip label={`${t.wrap} (w)`}>
          <ActionIcon
            aria-label={t.wrap}
            aria-pressed={wrap}
            variant={wrap ? 'light' : 'subtle'}
            onClick={() => props.onWrap(!wrap)}
          >
            <WrapText size={15} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={`${t.times} (t)`}>
          <ActionIcon
            aria-label={t.times}
            aria-pressed={isTimed}
            variant={isTimed ? 'light' : 'subtle'}
            onClick={() => props.onTimed(!isTimed)}
          >
            <Clock size={15} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={t.rawLong}>
          <Button
            component="a"
            href={props.rawUrl}
            download={props.filename}
            size="compact-xs"
            variant="default"
            leftSection={<Download size={12} />}
          >
            {t.raw}
          </Button>
        </Tooltip>
      </Group>
    </div>
  )
}

/** Whether this is all there is: streaming, complete, or cut with the numbers. */
function Mark({ store, isWaiting }: { store: LogStore; isWaiting?: boolean }) {
  const t = useLogText()
  useSyncExternalStore(store.subscribe, store.look)
  const isSilent = isWaiting && store.lines === 0 && store.status !== 'failed'
  const { word, long, look } = isSilent ? NOT_YET : statusText(store, t)
  return (
    <Group gap={8} wrap="nowrap">
      <Tooltip label={long} disabled={!long} multiline maw={320}>
        <Badge className={`badge-${look}`} data-mark={word} tabIndex={long ? 0 : undefined}>
          {t[word]}
        </Badge>
      </Tooltip>
      <Text size="xs" c="dimmed" className="num log-count">
        {t.lines(store.lines)}
      </Text>
    </Group>
  )
}

type Words = ReturnType<typeof useLogText>
type Word =
  | 'notYet'
  | 'loading'
  | 'live'
  | 'reconnecting'
  | 'paused'
  | 'failed'
  | 'complete'
  | 'cut'
  | 'empty'

const NOT_YET = { word: 'notYet', long: '', look: 'none' } as const

function statusText(store: LogStore, t: Words): { word: Word; long: string; look: string } {
  const { status, ending } = store
  if (status === 'ended' && ending) {
    if (ending.bytes === 0) return { word: 'empty', long: '', look: 'none' }
    if (ending.complete && ending.kept >= ending.bytes)
      return { word: 'complete', long: t.completeLong(bytes(ending.bytes)), look: 'ok' }
    return { word: 'cut', long: t.cutLong(bytes(ending.kept), bytes(ending.bytes)), look: 'warn' }
  }
  if (status === 'live') return { word: 'live', long: t.liveLong, look: 'run' }
  if (status === 'reconnecting')
    return { word: 'reconnecting', long: t.reconnectingLong, look: 'warn' }
  if (status === 'paused') return { word: 'paused', long: t.pausedLong, look: 'warn' }
  if (status === 'failed') return { word: 'failed', long: t.failedLong, look: 'fail' }
  return { word: 'loading', long: '', look: 'none' }
}

function Finder(props: Props) {
  const { needle, onNeedle, field } = props
  const t = useLogText()
  const step = useRef<Step>(null)
  return (
    <Group gap={4} wrap="nowrap" className="log-find">
      <TextInput
        ref={field}
        size="xs"
        flex={1}
        miw={0}
        leftSection={<Search size={14} />}
        placeholder={t.find}
        aria-label={t.find}
        value={needle}
        onChange={(event) => onNeedle(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') step.current?.(event.shiftKey ? -1 : 1)
          if (event.key === 'Escape') onNeedle('')
        }}
        rightSection={
          needle ? (
            <CloseButton size="xs" aria-label={t.clear} onClick={() => onNeedle('')} />
          ) : null
        }
      />
      {needle ? (
        <Suspense>
          <SearchHits {...props} step={step} />
        </Suspense>
      ) : null}
    </Group>
  )
}
