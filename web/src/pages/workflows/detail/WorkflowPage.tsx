import { Badge, Button, Group, Tabs, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Play } from 'lucide-react'
import { type Workflow, workflowQuery } from '../../../api/queries/automation/workflow'
import { useKeys } from '../../../app/keys'
import { useNavTitles } from '../../../app/pages'
import { useCan } from '../../../app/session'
import { usePageTitle } from '../../../app/title'
import { AclPanel } from '../../../ui/acl/AclPanel'
import { Changes } from '../../../ui/history/Changes'
import { QueryResult } from '../../../ui/layout/QueryResult'
import { Section } from '../../../ui/layout/Section'
import { useTabInView } from '../../../ui/layout/useTabInView'
import { ApiPanel } from '../../../ui/run/calls/ApiPanel'
import { RunDialog } from '../../../ui/run/RunDialog'
import { useMayRun } from '../../../ui/run/target'
import { useRunDialog } from '../../../ui/run/useRunDialog'
import { TABS, type Tab } from '../search'
import { useText } from '../text'
import { useAddress } from './useAddress'
import { WorkflowGraphTab } from './WorkflowGraphTab'
import { WorkflowJobsTab } from './WorkflowJobsTab'
import { WorkflowSettingsTab } from './WorkflowSettingsTab'
import { WorkflowTriggersTab } from './WorkflowTriggersTab'
import '../workflows.css'

export function WorkflowPage() {
  const { id, tab } = useParams({ strict: false }) as { id: string; tab?: string }
  const workflow = useQuery(workflowQuery(id))
  const { workflows } = useNavTitles()
  usePageTitle(workflow.data?.name ?? workflows, workflows)
  const here = TABS.find((name) => name === tab) ?? 'graph'
  return (
    <QueryResult query={workflow}>
      {(data) => <Page key={data.id} workflow={data} tab={here} />}
    </QueryResult>
  )
}

function Page({ workflow, tab }: { workflow: Workflow; tab: Tab }) {
  const t = useText()
  const { go } = useAddress()
  const can = useCan()
  const list = useTabInView(tab)
  const home = `/workflows/${workflow.id}`
  const mayRun = useMayRun()(workflow.acl) && workflow.enable
  const [isRunning, setRunning] = useRunDialog()
  const openRun = () => setRunning(true)
  useKeys(mayRun ? { r: openRun } : {})
  const tabs = TABS.filter((name) =>
    name === 'api' ? can('task.run') : name === 'access' ? can('task.access') : true,
  )
  return (
    <div className="flow-page">
      <Group gap={10}>
        <Title order={2} size="h4" className="clip">
          {workflow.name}
        </Title>
        <Text size="xs" c="dimmed">
          {t.steps(workflow.graph.nodes?.length ?? 0)}
        </Text>
        {workflow.enable ? null : <Badge>{t.disabled}</Badge>}
        <Button ml="auto" leftSection={<Play size={14} />} disabled={!mayRun} onClick={openRun}>
          {t.run}
        </Button>
      </Group>
      <Tabs value={tab} onChange={(next) => next && go(`${home}/${next}`)}>
        <Tabs.List ref={list}>
          {tabs.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {t.tabs[name]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
      </Tabs>
      {tab === 'graph' ? <WorkflowGraphTab workflow={workflow} /> : null}
      {tab === 'jobs' ? <WorkflowJobsTab workflow={workflow} /> : null}
      {tab === 'triggers' ? <WorkflowTriggersTab workflow={workflow} /> : null}
      {tab === 'access' ? (
        <Section title={t.tabs.access} padded>
          <AclPanel object="workflow" id={workflow.id} />
        </Section>
      ) : null}
      {tab === 'api' ? (
        <Section title={t.tabs.api} padded>
          <ApiPanel target={{ kind: 'workflow', id: workflow.id, name: workflow.name }} />
        </Section>
      ) : null}
      {tab === 'history' ? (
        <Section title={t.tabs.history} padded>
          <Changes object="workflow" id={workflow.id} />
        </Section>
      ) : null}
      {tab === 'settings' ? <WorkflowSettingsTab workflow={workflow} /> : null}
      <RunDialog
        target={{ kind: 'workflow', id: workflow.id, name: workflow.name }}
        opened={isRunning && mayRun}
        onClose={() => setRunning(false)}
      />
    </div>
  )
}
