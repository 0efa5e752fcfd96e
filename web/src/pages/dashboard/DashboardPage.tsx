import { Button, Group, Skeleton, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { LayoutDashboard } from 'lucide-react'
import { type ComponentType, lazy, Suspense, useState } from 'react'
import { countsQuery } from '../../api/queries/counts'
import { firstStepsQuery } from '../../api/queries/firstSteps'
import { fewHostsQuery } from '../../api/queries/monitoring/host'
import { tilesQuery } from '../../api/queries/monitoring/indicator'
import { useNavTitles } from '../../app/pages'
import { useHasLevel } from '../../app/session'
import { usePageTitle } from '../../app/title'
import { useWords } from '../../ui/text'
import { HostsCard, SHOWN_HOSTS } from './cards/HostsCard'
import { IndicatorTiles } from './cards/IndicatorTiles'
import { JobsCard } from './cards/JobsCard'
import { MonitorsCard, useMonitorsQuery } from './cards/MonitorsCard'
import { PendingCard } from './cards/PendingCard'
import { decisionRowsQuery, problemsQuery } from './cards/parts'
import { type Band, bandsOf, type CardName, completeLayout } from './layout/layout'
import {
  failedJobsQuery,
  layoutQuery,
  pendingDecisionsQuery,
  problemMonitorsQuery,
  recentJobsQuery,
} from './queries'
import { useText } from './text'
import './dashboard.css'

const FirstSteps = lazy(() =>
  import('./firstSteps/FirstSteps').then((module) => ({ default: module.FirstSteps })),
)
const ArrangeDialog = lazy(() =>
  import('./layout/ArrangeDialog').then((module) => ({ default: module.ArrangeDialog })),
)

const CARDS: Record<CardName, ComponentType> = {
  indicators: IndicatorTiles,
  monitors: MonitorsCard,
  pending: PendingCard,
  hosts: HostsCard,
  jobs: JobsCard,
}

/** Problems first, then the cards in the order that the reader chose. */
export function DashboardPage() {
  const t = useText()
  usePageTitle(useNavTitles().dashboard)
  const { data } = useQuery(layoutQuery)
  const { data: steps } = useQuery({ ...firstStepsQuery, enabled: useHasLevel('admin') })
  const [isArranging, setArranging] = useState(false)
  const Problems = useProblemsCard()
  const isReady = useIsReady(Problems !== undefined)
  if (!isReady) return <Loading />
  const layout = completeLayout(data?.own ?? data?.shared)
  return (
    <Stack gap="md">
      {Problems ? <Problems /> : null}
      {steps?.visible ? (
        <Suspense fallback={<div className="first-steps-place" />}>
          <FirstSteps />
        </Suspense>
      ) : null}
      {bandsOf(layout).map((band, n) => (
        <BandOfCards key={n} band={band} />
      ))}
      <Group justify="flex-end">
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          className="dash-link"
          leftSection={<LayoutDashboard size={12} />}
          onClick={() => setArranging(true)}
        >
          {t.arrange}
        </Button>
      </Group>
      {isArranging ? (
        <Suspense>
          <ArrangeDialog layout={layout} onClose={() => setArranging(false)} />
        </Suspense>
      ) : null}
    </Stack>
  )
}

/** Whether there is anything for the card of problems; undefined: not known yet. */
function useHasProblems(): boolean | undefined {
  const counts = useQuery(countsQuery)
  const monitors = useQuery(problemMonitorsQuery)
  const jobs = useQuery(failedJobsQuery)
  if (counts.isPending || monitors.isPending || jobs.isPending) return undefined
  const total = (counts.data?.hosts.down ?? 0) + (monitors.data?.rows.length ?? 0)
  return total + (jobs.data?.length ?? 0) > 0
}

/** The card of problems, loaded where there are any; undefined: not known yet. */
function useProblemsCard(): ComponentType | null | undefined {
  const hasProblems = useHasProblems()
  const code = useQuery({ ...problemsQuery, enabled: hasProblems === true })
  if (hasProblems === undefined) return undefined
  return hasProblems ? code.data?.ProblemsCard : null
}

/** Whether everything that decides where a card stands has been read: cards that came one after
 * the other would push each other around. What fails is shown by its own card. */
function useIsReady(hasProblemsCard: boolean): boolean {
  const layout = useQuery(layoutQuery)
  const tiles = useQuery(tilesQuery)
  const hosts = useQuery(fewHostsQuery(SHOWN_HOSTS))
  const pending = useQuery(pendingDecisionsQuery)
  const rows = useQuery({ ...decisionRowsQuery, enabled: !!pending.data?.length })
  const jobs = useQuery(recentJobsQuery)
  const monitors = useMonitorsQuery()
  const isAdmin = useHasLevel('admin')
  const steps = useQuery({ ...firstStepsQuery, enabled: isAdmin })
  const [wasReady, setReady] = useState(false)
  const isRead = [layout, tiles, hosts, pending, jobs, monitors].every((query) => !query.isPending)
  const areStepsRead = !isAdmin || !steps.isPending
  const areDecisionsRead = !pending.data?.length || !rows.isPending
  const isReady = isRead && hasProblemsCard && areStepsRead && areDecisionsRead
  if (isReady && !wasReady) setReady(true)
  return wasReady || isReady
}

function BandOfCards({ band }: { band: Band }) {
  if ('full' in band) return <Card name={band.full} />
  return (
    <div className="dash-cols">
      {band.columns.map((names, n) => (
        <Stack key={n} gap="md">
          {names.map((name) => (
            <Card key={name} name={name} />
          ))}
        </Stack>
      ))}
    </div>
  )
}

function Card({ name }: { name: CardName }) {
  const Content = CARDS[name]
  return <Content />
}

function Loading() {
  const w = useWords()
  return (
    <div className="dash-loading" role="status" aria-busy="true" aria-label={w.loading}>
      <Skeleton height={96} />
      <Skeleton height={420} mt="md" />
    </div>
  )
}
