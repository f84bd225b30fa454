create view sample.corrective_action_plans as
table sample.findings_text;
